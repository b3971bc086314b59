# mypy: ignore-errors
"""A program of GTK 3 with one field, which says what was put into it, and when.

Debian's own Python runs it, out of any pointer's reach.  Each line on its standard input is
answered by "done".
"""

import sys
import time

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402

FAR = 3000
"""Beyond every screen: no click of a run comes there, and no key."""


def say(*words: object) -> None:
    """Tell what happened."""
    print(*words, flush=True)


def heard(*_: object) -> bool:
    """Answer, or end with the input."""
    if not sys.stdin.readline():
        Gtk.main_quit()
        return False
    say("done")
    return True


window, field = Gtk.Window(title="Record"), Gtk.Entry()
field.connect("changed", lambda entry: say(time.monotonic(), entry.get_text()))
field.get_accessible().set_name("Record")
window.add(field)
window.move(FAR, FAR)
window.show_all()
GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, heard)
GLib.idle_add(lambda: say("shown") or False)
Gtk.main()
