"""The demo: child processes, a virtual desktop, one machine, and a tour of the HTTP API."""


class DemoError(Exception):
    """A step of the demo failed; the message says which and why, for a person."""


class Interrupted(BaseException):
    """Somebody asked the demo to end: raised by the handlers of the signals that say so."""
