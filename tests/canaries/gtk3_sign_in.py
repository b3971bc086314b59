# mypy: ignore-errors
"""A program of GTK 3 with a field for passwords, which keeps a record of those it was given.

It is called with the file of its record.  Debian's own Python runs it.
"""

import sys
from pathlib import Path

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk  # noqa: E402

window, field = Gtk.Window(title="Sign in"), Gtk.Entry(visibility=False, width_chars=30)


def note(password: str) -> None:
    """Put a password into the record."""
    with Path(sys.argv[1]).open("a") as record:
        record.write(f"{password}\n")


def entered(entry: Gtk.Entry) -> None:
    """Note a password, and empty the field."""
    note(entry.get_text())
    entry.set_text("")


field.connect("activate", entered)
window.move(20, 20)
window.add(field)
window.show_all()
Gtk.main()
