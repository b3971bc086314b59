# mypy: ignore-errors
"""One window in GTK 3 with as many labels as wanted, all of them showing.

Debian's own Python runs it.
"""

import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402

window, fixed = Gtk.Window(title=sys.argv[2]), Gtk.Fixed()
window.add(fixed)
window.connect("destroy", Gtk.main_quit)
for number in range(int(sys.argv[1])):
    fixed.put(Gtk.Label(label=f"Label {number}"), number % 60 * 20, number // 60 * 9)
window.show_all()
GLib.idle_add(lambda: print("shown", flush=True) or False)
Gtk.main()
