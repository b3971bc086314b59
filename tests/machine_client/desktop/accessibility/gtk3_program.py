# mypy: ignore-errors
"""A program of GTK 3 with elements, which says on its standard output what was done to them.

On its standard input it is told to change: a verb and its argument a line, answered by "done".
Debian's own Python runs it.
"""

import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402


def say(*words: object) -> None:
    """Tell what happened."""
    print(*words, flush=True)


class Program:
    """One window with all kinds of elements, and buttons that can be changed."""

    def __init__(self, buttons: int, title: str) -> None:
        self.window = Gtk.Window(title=title)
        self.window.set_default_size(600, 420)
        self.window.move(100, 80)
        self.window.connect("destroy", Gtk.main_quit)
        self.box = Gtk.VBox()
        self.window.add(self.box)
        self.buttons: dict[str, Gtk.Button] = {}
        self._menu()
        self._fields()
        self._grid(buttons)
        self.window.show_all()

    def add(self, name: str) -> Gtk.Button:
        """Make a button."""
        button = Gtk.Button(label=name)
        button.connect("clicked", lambda _: say("clicked", button.get_label()))
        self.buttons[name] = button
        return button

    def _menu(self) -> None:
        bar, file, menu = Gtk.MenuBar(), Gtk.MenuItem(label="File"), Gtk.Menu()
        for name in ("Open", "Store"):
            item = Gtk.MenuItem(label=name)
            item.connect("activate", lambda _, name=name: say("chose", name))
            menu.append(item)
        file.set_submenu(menu)
        bar.append(file)
        self.box.pack_start(bar, False, False, 0)

    def _fields(self) -> None:
        total, secret = Gtk.Entry(text="4711"), Gtk.Entry(text="geheim", visibility=False)
        total.connect("changed", lambda entry: say("changed", entry.get_text()))
        scale = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1)
        scale.connect("value-changed", lambda each: say("slid", each.get_value()))
        agree = Gtk.CheckButton(label="Agree")
        agree.connect("toggled", lambda each: say("toggled", each.get_active()))
        for name, widget in (("Total", total), ("Password", secret), ("Volume", scale)):
            widget.get_accessible().set_name(name)
            self.box.pack_start(widget, False, False, 0)
        self.box.pack_start(agree, False, False, 0)

    def _grid(self, buttons: int) -> None:
        scrolled, grid = Gtk.ScrolledWindow(), Gtk.Grid()
        scrolled.add(grid)
        for number in range(buttons):
            grid.attach(self.add(f"Button {number}"), number % 6, number // 6, 1, 1)
        self.box.pack_start(scrolled, True, True, 0)
        row = Gtk.HBox()
        for name in ("Save", "Cancel", "Talk"):
            row.pack_start(self.add(name), True, True, 0)
        self.buttons["Talk"].connect("clicked", lambda _: self._talk())
        status = Gtk.Label(width_chars=8)
        self.buttons["Save"].connect("clicked", lambda _: status.set_text("Saved"))
        row.pack_start(status, True, True, 0)
        self.box.pack_start(row, False, False, 0)
        self.row = row

    def _talk(self) -> None:
        dialog = Gtk.MessageDialog(transient_for=self.window, modal=True, text="Sure?")
        dialog.run()

    def told(self, verb: str, argument: str) -> None:
        """Change as it was told."""
        match verb:
            case "move":
                self.window.move(*map(int, argument.split()))
            case "disable":
                self.buttons[argument].set_sensitive(False)
            case "enable":
                self.buttons[argument].set_sensitive(True)
            case "hide":
                self.buttons[argument].hide()
            case "show":
                self.buttons[argument].show()
            case "rename":
                old, new = argument.split(" to ")
                self.buttons[old].set_label(new)
            case "twin":
                self.row.pack_start(self.add(argument), True, True, 0)
                self.row.show_all()
            case "font":
                settings = Gtk.Settings.get_default()
                settings.set_property("gtk-font-name", f"Sans {argument}")
            case "title":
                self.window.set_title(argument)


def main() -> None:
    """Show the window until the end of the input."""
    program = Program(int(sys.argv[1]), sys.argv[2])

    def heard(*_: object) -> bool:
        line = sys.stdin.readline()
        if not line:
            Gtk.main_quit()
            return False
        verb, _, argument = line.rstrip("\n").partition(" ")
        program.told(verb, argument)
        # Behind all that is still to be drawn and heard, also where that takes long.
        GLib.timeout_add(50, wait)
        return True

    def wait() -> bool:
        GLib.idle_add(done, priority=GLib.PRIORITY_LOW)
        return False

    def done() -> bool:
        program.window.get_display().sync()
        say("done")
        return False

    GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, heard)
    GLib.idle_add(lambda: say("shown") or False)
    Gtk.main()


main()
