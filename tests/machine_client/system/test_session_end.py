"""A window is asked to close, or told that the session ends: the program stops, and in time."""

import ctypes
import sys
import threading
from typing import Any

import pytest

from machine_client.system import session_end
from machine_client.system.console_events import SECONDS_TO_END
from machine_client.system.session_end import (
    CLOSE,
    END_SESSION,
    QUERY_END_SESSION,
    WINDOW,
    on_session_end,
)


@pytest.mark.parametrize(
    ("message", "parameter", "answer", "told"),
    [
        (QUERY_END_SESSION, 0, 1, []),
        (END_SESSION, 1, 0, ["stop", SECONDS_TO_END]),
        (END_SESSION, 0, 0, []),
        (CLOSE, 0, 0, ["stop"]),
        (0x1, 0, None, []),
    ],
)
def test_each_message_is_answered(
    message: int, parameter: int, answer: int | None, told: list[object]
) -> None:
    heard: list[object] = []
    said = session_end._answer(message, parameter, lambda: heard.append("stop"), heard.append)
    assert (said, heard) == (answer, told)


@pytest.mark.skipif(sys.platform != "win32", reason="there are signals elsewhere")
def test_window_that_nobody_sees_is_told() -> None:
    stopped = threading.Event()
    on_session_end(stopped.set)
    user32: Any = getattr(ctypes, "windll").user32  # noqa: B009  there is none on Linux
    user32.FindWindowW.restype = ctypes.c_void_p
    window = ctypes.c_void_p(user32.FindWindowW(WINDOW, None))
    assert window
    assert not user32.IsWindowVisible(window)
    assert user32.SendMessageW(window, QUERY_END_SESSION, 0, 0) == 1
    assert not stopped.is_set()
    user32.SendMessageW(window, CLOSE, 0, 0)
    assert stopped.wait(5)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has windows")
def test_elsewhere_nothing_is_listened_for() -> None:
    threads = threading.active_count()
    on_session_end(lambda: None)
    assert threading.active_count() == threads
