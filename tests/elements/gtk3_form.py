# mypy: ignore-errors
"""The form in GTK 3, which keeps its own record of what was pressed.

It is told on its standard input what to do, a verb and its argument a line, answered by "done".
Debian's own Python runs it.
"""

import sys

import gi
from form import ALIKE, COLUMNS, ROW, SECOND, shown

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402


def say(*words: object) -> None:
    """Tell what happened."""
    print(*words, flush=True)


class Form:
    """One window of rows."""

    def __init__(self, count: int, title: str, first: int = 0) -> None:
        self.first = first
        self.second = None
        self.window = Gtk.Window(title=title)
        self.window.connect("destroy", Gtk.main_quit)
        self.grid = Gtk.Grid(column_spacing=4)
        self.window.add(self.grid)
        self.widgets = {}
        for number, kind, text in shown(count):
            row, place = divmod(number, ROW)
            column = row % COLUMNS * (ROW + 1) + place + (place > 0)
            self.widgets[number] = widget = self._made(kind, text)
            self._record(number, widget)
            if kind == "field":
                label = Gtk.Label(label=text)
                label.set_mnemonic_widget(widget)
                self.grid.attach(label, column, row // COLUMNS, 1, 1)
                column += 1
            self.grid.attach(widget, column, row // COLUMNS, 1, 1)
        self.window.show_all()

    def _made(self, kind: str, text: str) -> Gtk.Widget:
        match kind:
            case "field":
                return Gtk.Entry(text=f"of {text}", width_chars=14)
            case "check":
                return Gtk.CheckButton(label=text)
            case "toggle":
                return Gtk.ToggleButton(label=text)
            case "slider":
                return Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1)
            case "number":
                return Gtk.SpinButton.new_with_range(0, 100, 1)
            case "icon":
                return Gtk.Button.new_from_icon_name("edit-delete", Gtk.IconSize.BUTTON)
        return Gtk.Button(label=text)

    def _record(self, number: int, widget: Gtk.Widget) -> None:
        if isinstance(widget, Gtk.Button):
            widget.connect("clicked", lambda _: say("pressed", self.first + number))
        else:
            widget.connect("button-press-event", lambda *_: say("pressed", self.first + number))

    def told(self, verb: str, argument: str) -> None:
        """Do as it was told."""
        settings = Gtk.Settings.get_default()
        match verb:
            case "where":
                _, left, top = self.window.get_window().get_origin()
                for number, widget in self.widgets.items():
                    x, y = widget.translate_coordinates(self.window, 0, 0)
                    width, height = widget.get_allocated_width(), widget.get_allocated_height()
                    say("at", number, left + x + width // 2, top + y + height // 2)
            case "font":
                settings.set_property("gtk-font-name", f"Sans {argument}")
            case "second":
                self.second = Form(ALIKE, argument, first=SECOND)
            case "theme":
                settings.set_property("gtk-application-prefer-dark-theme", True)


def main() -> None:
    """Show the form until the end of the input."""
    form = Form(int(sys.argv[1]), sys.argv[2])

    def heard(*_: object) -> bool:
        line = sys.stdin.readline()
        if not line:
            Gtk.main_quit()
            return False
        verb, _, argument = line.rstrip("\n").partition(" ")
        form.told(verb, argument)
        # Behind all that is still to be drawn and heard, also where that takes long.
        GLib.timeout_add(20, wait)
        return True

    def wait() -> bool:
        GLib.idle_add(done, priority=GLib.PRIORITY_LOW)
        return False

    def done() -> bool:
        form.window.get_display().sync()
        say("done")
        return False

    GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, heard)
    GLib.idle_add(lambda: say("shown") or False)
    Gtk.main()


main()
