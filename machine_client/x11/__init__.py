"""Everything that knows X11, below `machine_client.injector`.

desktop: one connection as the injector sees it.  connection: requests, events, errors.
keyboard: chords.  keymap: which key makes which symbol.  xkb: the XKB requests that python-xlib
lacks.  keysyms: names and characters as X's numbers.  borrowed: unused keys lent to characters
that the layout lacks.
"""
