# mypy: ignore-errors
"""An editor or a form of GTK 3, as large as the screen, which knows what is in it.

Its first argument is which of the two.  On its standard input it is asked "where" its parts are, or
"what" is in them, and answers in JSON, a line, and "done".  Debian's own Python runs it.

What it comes to is decided by what is done, and by nothing that goes by the clock: each thing is
done with before the next is heard, what would fade in or slide is there at once, and nothing opens
but by a press of a button.
"""

import json
import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk  # noqa: E402

LINES = 60
NO_EMOJI = Gtk.InputHints.NO_EMOJI
"""No window opens from a menu, in which what is typed would be lost until it is closed."""

MOST_SOURCES = 100
ROUNDS = 5
"""In which all that was done is heard, also what the program says to itself by the X server."""


def say(*words: object) -> None:
    """Tell something."""
    print(*words, flush=True)


class Editor:
    """A text with more lines than fit on the screen."""

    def __init__(self) -> None:
        self.view = Gtk.TextView(wrap_mode=Gtk.WrapMode.WORD, monospace=True, input_hints=NO_EMOJI)
        self.text = self.view.get_buffer()
        lines = [f"Line {number} of orders: {number * 4711} äöü, (none)" for number in range(LINES)]
        self.text.set_text("\n".join(lines))
        self.text.place_cursor(self.text.get_start_iter())
        scrolled = Gtk.ScrolledWindow()
        scrolled.add(self.view)
        self.whole = scrolled
        self.parts = {"text": scrolled}

    def what(self) -> dict[str, object]:
        """The text, where the cursor is, and what is selected."""
        start, end = self.text.get_bounds()
        marks = (self.text.get_insert(), self.text.get_selection_bound())
        return {
            "text": self.text.get_text(start, end, True),
            "selected": [self.text.get_iter_at_mark(each).get_offset() for each in marks],
        }


class Form:
    """A field of every kind."""

    def __init__(self) -> None:
        self.whole = Gtk.Grid(row_spacing=14, column_spacing=30, border_width=20)
        self.parts = {}
        self.fields = [self._field(f"Field {number}") for number in range(3)]
        self.number = self._put("number", Gtk.SpinButton.new_with_range(0, 1000, 1))
        self.number.set_input_hints(NO_EMOJI)
        self.checks = [self._put(f"check {n}", Gtk.CheckButton(label=f"Paid {n}")) for n in (0, 1)]
        group = Gtk.RadioButton(label="By post")
        self.choices = [self._put("post", group)]
        for label in ("By train", "By hand"):
            button = Gtk.RadioButton.new_with_label_from_widget(group, label)
            self.choices.append(self._put(label, button))
        self.toggle = self._put("toggle", Gtk.ToggleButton(label="Urgent"))
        self.slider = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1)
        self._put("slider", self.slider)
        self.combo = Gtk.ComboBoxText()
        for each in ("Berlin", "Łódź", "München", "Oslo"):
            self.combo.append_text(each)
        self.combo.set_active(0)
        # A space that is typed into it would open it for what is typed next, or a moment later.
        focus_never(self.combo)
        self._put("combo", self.combo)
        self.pressed = [0, 0]
        for number, label in enumerate(("Add", "Remove")):
            button = self._put(label, Gtk.Button(label=label))
            button.connect("clicked", self._press, number)
        self.list = Gtk.ListBox(selection_mode=Gtk.SelectionMode.MULTIPLE)
        for number in range(12):
            self.list.add(Gtk.Label(label=f"Order {number}", height_request=24))
        self.whole.attach(self.list, 2, 0, 1, 8)
        self.parts["list"] = self.list

    def _field(self, text: str) -> Gtk.Entry:
        return self._put(
            text, Gtk.Entry(text=f"{text} of 4711", width_chars=40, input_hints=NO_EMOJI)
        )

    def _put(self, name: str, widget: Gtk.Widget) -> Gtk.Widget:
        row, column = divmod(len(self.parts), 2)
        self.whole.attach(widget, column, row, 1, 1)
        self.parts[name] = widget
        return widget

    def _press(self, _: object, number: int) -> None:
        self.pressed[number] += 1

    def what(self) -> dict[str, object]:
        """What was entered and chosen."""
        return {
            "fields": [[each.get_text(), each.get_position()] for each in self.fields],
            "number": [self.number.get_value(), self.number.get_text()],
            "checks": [each.get_active() for each in (*self.checks, *self.choices, self.toggle)],
            "slider": self.slider.get_value(),
            "combo": self.combo.get_active_text(),
            "pressed": self.pressed,
            "rows": [each.get_index() for each in self.list.get_selected_rows()],
        }


def focus_never(widget: Gtk.Widget) -> None:
    """Have no key go to a widget, nor to any that it consists of."""
    widget.set_can_focus(False)
    if isinstance(widget, Gtk.Container):
        widget.forall(focus_never)


def hear_when_idle() -> None:
    """Let what is left to be done, such as scrolling to the cursor, come before further events."""
    context = GLib.MainContext.default()
    sources = (context.find_source_by_id(number) for number in range(1, MOST_SOURCES))
    (events,) = (each for each in sources if each and (each.get_name() or "").startswith("GDK X11"))
    events.set_priority(GLib.PRIORITY_LOW)


def main() -> None:
    """Show it until the end of the input."""
    settings = Gtk.Settings.get_default()
    # On a busy machine a hand's second click comes late; what is no double click comes after SLOW.
    settings.set_property("gtk-double-click-time", 900)
    # What is under the pointer would depend on how far it has come.
    settings.set_property("gtk-enable-animations", False)
    # Scroll bars over the text are there for some seconds after the pointer has moved.
    settings.set_property("gtk-overlay-scrolling", False)
    hear_when_idle()
    shown = Editor() if sys.argv[1] == "editor" else Form()
    window = Gtk.Window(decorated=False)
    window.connect("destroy", Gtk.main_quit)
    window.add(shown.whole)
    screen = Gdk.Screen.get_default()
    window.set_default_size(screen.get_width(), screen.get_height())
    window.show_all()
    window.move(0, 0)

    def where() -> dict[str, object]:
        boxes = {name: each.get_allocation() for name, each in shown.parts.items()}
        return {name: [box.x, box.y, box.width, box.height] for name, box in boxes.items()}

    def heard(*_: object) -> bool:
        line = sys.stdin.readline().strip()
        if not line:
            Gtk.main_quit()
            return False
        answered(where if line == "where" else shown.what, ROUNDS)
        return True

    def answered(question: object, rounds: int) -> bool:
        Gdk.Display.get_default().sync()
        while Gtk.events_pending():
            Gtk.main_iteration()
        if rounds:
            GLib.timeout_add(40, answered, question, rounds - 1)
        else:
            say(json.dumps(question()))
            say("done")
        return False

    GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, heard)
    GLib.idle_add(lambda: say("shown") or False)
    Gtk.main()


main()
