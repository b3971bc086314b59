"""Where the server's log goes: standard error, one line for each event."""

import logging
import sys


def configure_logging(level: str) -> None:
    """Write lines of this level and above; Tornado's own requests log is ours already."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        logging.Formatter(
            "%(asctime)s.%(msecs)03d %(levelname)s %(name)s %(message)s", "%Y-%m-%dT%H:%M:%S"
        )
    )
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # What a log line is about is in its message; where it was called is not looked up each time.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.getLogger("tornado.general").setLevel(max(logging.WARNING, logging.root.level))
    logging.getLogger("pymongo").setLevel(logging.WARNING)
