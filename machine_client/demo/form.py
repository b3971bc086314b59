# mypy: ignore-errors
"""The form of ``farhand demo``: orders are entered here, and each that is saved is said.

Debian's own Python runs it, which has GTK 3.  Its argument is its version: in the second the field
that a run of the demo looks for has gone, and others are there.
"""

import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk, Pango  # noqa: E402

FIELDS = {
    "1": ("Order", "Reference"),
    "2": ("Order", "Cost centre", "Your reference"),
}


class Form:
    """One window with a field in each line, a button, and what became of the last order."""

    def __init__(self, names: tuple[str, ...]) -> None:
        window = Gtk.Window(title="Orders")
        window.connect("destroy", Gtk.main_quit)
        window.move(240, 130)
        window.set_default_size(640, 0)
        box = Gtk.VBox(spacing=18, border_width=36)
        window.add(box)
        heading = Gtk.Label(label="Enter an order", xalign=0)
        large = Pango.AttrList()
        large.insert(Pango.attr_scale_new(1.6))
        heading.set_attributes(large)
        box.pack_start(heading, False, False, 0)
        grid = Gtk.Grid(column_spacing=24, row_spacing=14)
        box.pack_start(grid, False, False, 0)
        self.fields = {}
        for row, name in enumerate(names):
            entry = Gtk.Entry(hexpand=True)
            entry.get_accessible().set_name(name)
            grid.attach(Gtk.Label(label=name, xalign=0), 0, row, 1, 1)
            grid.attach(entry, 1, row, 1, 1)
            self.fields[name] = entry
        buttons = Gtk.HBox(spacing=12)
        box.pack_start(buttons, False, False, 0)
        save, clear = Gtk.Button(label="Save"), Gtk.Button(label="Clear")
        save.connect("clicked", self.save)
        clear.connect("clicked", self.clear)
        for each in (save, clear):
            buttons.pack_start(each, True, True, 0)
        self.status = Gtk.Label(label="", xalign=0)
        box.pack_start(self.status, False, False, 0)
        window.show_all()
        save.grab_focus()

    def save(self, _: object) -> None:
        """Keep an order, and say it."""
        texts = [entry.get_text() for entry in self.fields.values()]
        print("saved", "|".join(texts), flush=True)
        self.status.set_text(f"Saved: order {self.fields['Order'].get_text()}")
        self.clear()

    def clear(self, *_: object) -> None:
        """Empty all fields."""
        for entry in self.fields.values():
            entry.set_text("")


Form(FIELDS[sys.argv[1]])
GLib.idle_add(lambda: print("open", flush=True))
Gtk.main()
