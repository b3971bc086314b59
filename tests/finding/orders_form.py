# mypy: ignore-errors
"""A form of GTK 3 with lines that look alike, which keeps its own record of what was entered.

Its first argument are the orders, one a line of it, its second the window's title.  On its standard
input it is told to change, a verb and its argument a line, answered by "done".  Debian's own Python
runs it.
"""

import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402


def say(*words: object) -> None:
    """Tell what was entered."""
    print(*words, flush=True)


class Form:
    """One window: a customer, some orders, and what is done with all of them."""

    def __init__(self, orders: str, title: str) -> None:
        self.window = Gtk.Window(title=title)
        self.window.move(60, 40)
        self.window.connect("destroy", Gtk.main_quit)
        box = Gtk.VBox(spacing=6, border_width=12)
        self.window.add(box)
        line = Gtk.HBox(spacing=6)
        line.pack_start(Gtk.Label(label="Customer"), False, False, 0)
        self.fields = {"customer": Gtk.Entry(width_chars=24)}
        line.pack_start(self.fields["customer"], False, False, 0)
        box.pack_start(line, False, False, 0)
        self.grid = Gtk.Grid(column_spacing=12, row_spacing=4)
        box.pack_start(self.grid, False, False, 0)
        ending = Gtk.HBox(spacing=6)
        self.ends = {name: self._button(name, name.lower()) for name in ("Save", "Cancel")}
        for each in self.ends.values():
            ending.pack_start(each, False, False, 0)
        box.pack_start(ending, False, False, 0)
        self._record("customer")
        self.show(orders)

    def show(self, orders: str) -> None:
        """Show these orders, in the place of those before."""
        for each in self.grid.get_children():
            self.grid.remove(each)
        for row, order in enumerate(filter(None, orders.split(","))):
            self.fields[order] = note = Gtk.Entry(width_chars=12)
            self._record(order)
            widgets = [
                Gtk.Label(label=f"Order {order}"),
                Gtk.Label(label="12.00"),
                note,
                self._button("Edit", f"edit {order}"),
                self._button("Delete", f"delete {order}"),
            ]
            for column, widget in enumerate(widgets):
                self.grid.attach(widget, column, row, 1, 1)
        self.window.show_all()
        self.window.resize(1, 1)

    def _button(self, label: str, words: str) -> Gtk.Button:
        button = Gtk.Button(label=label)
        button.connect("clicked", lambda _: say("entered", words))
        return button

    def _record(self, name: str) -> None:
        self.fields[name].connect(
            "changed", lambda entry: say("entered", f"{name}={entry.get_text()}")
        )

    def told(self, verb: str, argument: str) -> None:
        """Change as it was told."""
        settings = Gtk.Settings.get_default()
        match verb:
            case "move":
                self.window.move(*map(int, argument.split()))
            case "theme":
                settings.set_property("gtk-application-prefer-dark-theme", argument == "dark")
            case "font":
                settings.set_property("gtk-font-name", f"Sans {argument}")
            case "orders":
                self.show(argument)
            case "fill":
                name, _, text = argument.partition(" ")
                self.fields[name].set_text(text)
            case "focus":
                self.fields[argument].grab_focus()
            case "disable":
                self.ends[argument].set_sensitive(False)
            case "enable":
                self.ends[argument].set_sensitive(True)
            case "title":
                self.window.set_title(argument)


def main() -> None:
    """Show the form until the end of the input."""
    form = Form(sys.argv[1], sys.argv[2])

    def heard(*_: object) -> bool:
        line = sys.stdin.readline()
        if not line:
            Gtk.main_quit()
            return False
        verb, _, argument = line.rstrip("\n").partition(" ")
        form.told(verb, argument)
        # Behind all that is still to be drawn and heard.
        GLib.timeout_add(50, lambda: say("done") or False)
        return True

    GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, heard)
    GLib.idle_add(lambda: say("shown") or False)
    Gtk.main()


main()
