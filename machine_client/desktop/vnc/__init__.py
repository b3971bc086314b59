"""A desktop that a VNC server shows: everything that knows the protocol is in here."""
