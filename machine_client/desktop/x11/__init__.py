"""Everything that knows X11.

desktop: a display by its name.  input: the connection that injects.  view: those that only look.
connection: requests, events, errors.
holding: what we hold, and what others do.  server_record: what a client that is killed leaves
behind for the next.  requests: those that python-xlib lacks.  mouse: pynput's.
keyboard: chords.  keymap: which key makes which symbol.  xkb: the XKB requests that python-xlib
lacks.  keysyms: names and characters as X's numbers.  borrowed: unused keys lent to characters
that the layout lacks.
"""
