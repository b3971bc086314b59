"""Everything that knows X11, below `machine_client.injector`.

desktop: one connection as the injector sees it.  connection: requests, events, errors.
holding: what we hold, and what others do.  server_record: what a client that is killed leaves
behind for the next.  xinput: the X Input requests that python-xlib lacks.  mouse: pynput's.
keyboard: chords.  keymap: which key makes which symbol.  xkb: the XKB requests that python-xlib
lacks.  keysyms: names and characters as X's numbers.  borrowed: unused keys lent to characters
that the layout lacks.
"""
