"""Where the server's log goes: standard error, one line for each event."""

import logging
import sys


class OneLine(logging.Formatter):
    """What machines and people say is shown, but cannot begin a line or steer a terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """The line, with whatever is not printable escaped as in a Python string."""
        line = super().formatMessage(record)
        if line.isprintable():
            return line
        return "".join(
            character if character.isprintable() else character.encode("unicode_escape").decode()
            for character in line
        )


def configure_logging(level: str) -> None:
    """Write lines of this level and above; Tornado's own requests log is ours already."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        OneLine("%(asctime)s.%(msecs)03d %(levelname)s %(name)s %(message)s", "%Y-%m-%dT%H:%M:%S")
    )
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # What a log line is about is in its message; where it was called is not looked up each time.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.getLogger("tornado.general").setLevel(max(logging.WARNING, logging.root.level))
    logging.getLogger("pymongo").setLevel(logging.WARNING)
