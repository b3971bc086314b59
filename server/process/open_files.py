"""How many files a process may have open: each machine's connection is one."""

import resource
from contextlib import suppress


def allow_open_files() -> None:
    """Take as many as the system allows; most begin a service with 1024, for what uses select."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        # Some systems say that there is no limit, and set one all the same.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
