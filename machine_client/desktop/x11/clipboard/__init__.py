"""X11's selections: owned on behalf of whoever writes the clipboard, and read from other owners."""
