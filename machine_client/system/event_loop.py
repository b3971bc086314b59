"""How the event loop is run, and how it hears that the program shall end."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from machine_client.system.console_events import on_console_end
from machine_client.system.session_end import on_session_end

T = TypeVar("T")

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a program's coroutine on libuv's loop, or on asyncio's own where there is no uvloop.

    uvloop does not exist for Windows; asyncio's loop there is the proactor.
    """
    try:
        import uvloop  # noqa: PLC0415  not installed on every system
    except ModuleNotFoundError:
        return asyncio.run(main)
    return uvloop.run(main)


def on_stop_signal(stop: Callable[[], object]) -> None:
    """Call something in the running loop at SIGINT and SIGTERM, and when a console or session ends.

    Windows' loop takes no signal handlers.  There Python's own are used, which run between two
    steps of the main thread; the call wakes the loop.  Ctrl-Break is a signal of Windows' own, and
    the only one that a program can send to another.
    """
    loop = asyncio.get_running_loop()
    for number in _STOP_SIGNALS:
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:
            signal.signal(number, lambda *_: _call_soon(loop, stop))
    if sys.platform == "win32":
        signal.signal(signal.SIGBREAK, lambda *_: _call_soon(loop, stop))
    on_console_end(lambda: _call_soon(loop, stop))
    on_session_end(lambda: _call_soon(loop, stop))


def _call_soon(loop: asyncio.AbstractEventLoop, stop: Callable[[], object]) -> None:
    # The loop is closed when a second signal comes while the program ends.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(stop)
