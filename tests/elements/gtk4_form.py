# mypy: ignore-errors
"""The form in GTK 4, which keeps its own record of what was pressed, as `gtk3_form.py` does.

GTK 4 knows no places of the desktop: it tells of places in its window, and moves none.
"""

import sys

import gi
from form import ALIKE, COLUMNS, ROW, SECOND, shown

gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk  # noqa: E402


def say(*words: object) -> None:
    """Tell what happened."""
    print(*words, flush=True)


class Form:
    """One window of rows."""

    def __init__(self, count: int, title: str, first: int = 0) -> None:
        self.first = first
        self.second = None
        self.window = Gtk.Window(title=title, decorated=False)
        self.grid = Gtk.Grid(column_spacing=4)
        self.window.set_child(self.grid)
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
        self.window.present()

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
                return Gtk.Button.new_from_icon_name("edit-delete")
        return Gtk.Button(label=text)

    def _record(self, number: int, widget: Gtk.Widget) -> None:
        if isinstance(widget, Gtk.CheckButton):
            widget.connect("toggled", lambda _: say("pressed", self.first + number))
        elif isinstance(widget, Gtk.Button):
            widget.connect("clicked", lambda _: say("pressed", self.first + number))
        else:
            pressed = Gtk.GestureClick(propagation_phase=Gtk.PropagationPhase.CAPTURE)
            pressed.connect("pressed", lambda *_: say("pressed", self.first + number))
            widget.add_controller(pressed)

    def told(self, verb: str, argument: str) -> None:
        """Do as it was told."""
        settings = Gtk.Settings.get_default()
        match verb:
            case "where":
                for number, widget in self.widgets.items():
                    _, box = widget.compute_bounds(self.window)
                    middle = box.get_center()
                    say("at", number, round(middle.x), round(middle.y))
            case "font":
                settings.set_property("gtk-font-name", f"Sans {argument}")
            case "second":
                self.second = Form(ALIKE, argument, first=SECOND)
            case "theme":
                settings.set_property("gtk-application-prefer-dark-theme", True)


def main() -> None:
    """Show the form until the end of the input."""
    loop = GLib.MainLoop()
    form = Form(int(sys.argv[1]), sys.argv[2])

    def heard(*_: object) -> bool:
        line = sys.stdin.readline()
        if not line:
            loop.quit()
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
    GLib.timeout_add(200, lambda: say("shown") or False)
    loop.run()


main()
