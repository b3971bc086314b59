# mypy: ignore-errors
"""A program of GTK 4 with both of its fields for passwords, which Debian's own Python runs.

It is called with the text that is in them, and the title of its window.
"""

import sys

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk  # noqa: E402

window = Gtk.Window(title=sys.argv[2], default_width=300, default_height=120, decorated=False)
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
for widget in (Gtk.PasswordEntry(text=sys.argv[1]), Gtk.Entry(text=sys.argv[1], visibility=False)):
    widget.set_vexpand(True)
    box.append(widget)
window.set_child(box)
window.present()
GLib.timeout_add(200, lambda: print("shown", flush=True) or False)
GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, lambda *_: sys.exit())
GLib.MainLoop().run()
