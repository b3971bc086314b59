"""Where the server's log goes: standard error, one line for each event."""

import logging
import sys

from schemas.programs.log_lines import LogFormat, log_formatter

TEXT = "%(asctime)s.%(msecs)03d %(levelname)s %(name)s %(message)s"


def configure_logging(level: str, form: LogFormat = "text", node: str | None = None) -> None:
    """Write lines of this level and above; Tornado's own requests log is ours already.

    Where several nodes write to one place, each line has the name of its ``node``.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(log_formatter(form, TEXT, {} if node is None else {"node": node}))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # What a log line is about is in its message; where it was called is not looked up each time.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.getLogger("tornado.general").setLevel(max(logging.WARNING, logging.root.level))
    logging.getLogger("pymongo").setLevel(logging.WARNING)
    # What tools ask of this server's own handlers is in its own lines already.
    logging.getLogger("httpx").setLevel(logging.WARNING)
