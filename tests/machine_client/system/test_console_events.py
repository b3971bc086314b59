"""What Windows tells of a console's end; that it does is for a person to see."""

import sys

import pytest

from machine_client.system import console_events
from machine_client.system.console_events import CLOSES, LOGS_OFF, SHUTS_DOWN, on_console_end


@pytest.mark.parametrize("event", [CLOSES, LOGS_OFF, SHUTS_DOWN])
def test_end_of_the_console_stops_the_program_and_leaves_it_some_seconds(event: int) -> None:
    told: list[object] = []
    assert console_events._handle(event, lambda: told.append("stop"), told.append)
    assert told == ["stop", console_events.SECONDS_TO_END]


@pytest.mark.parametrize("event", [0, 1])
def test_ctrl_c_and_ctrl_break_are_pythons_own(event: int) -> None:
    told: list[object] = []
    assert not console_events._handle(event, lambda: told.append("stop"), told.append)
    assert told == []


def test_handler_is_kept_where_there_are_consoles() -> None:
    on_console_end(lambda: None)
    assert len(console_events._kept) == (sys.platform == "win32")
