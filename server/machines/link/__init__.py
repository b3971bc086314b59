"""The server's end of a link: a state machine without I/O."""
