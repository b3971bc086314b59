"""Log lines for people and for programs."""

import json
import logging
import sys
from typing import Any
from uuid import UUID

import pytest

from schemas.programs.log_lines import JsonLine, TextLine, log_formatter


def record(template: str, *arguments: Any, **extra: Any) -> logging.LogRecord:
    """What a call of a logger makes."""
    return logging.getLogger("a.logger").makeRecord(
        "a.logger", logging.INFO, "file.py", 1, template, arguments, None, extra=extra
    )


def as_json(template: str, *arguments: object, **extra: Any) -> dict[str, Any]:
    """The object on the line."""
    line = JsonLine().format(record(template, *arguments, **extra))
    assert "\n" not in line
    return dict(json.loads(line))


def test_json_has_time_level_logger_message_and_facts() -> None:
    command = UUID(int=7)
    shown = as_json("command=%s machine=%s took=%d ms: %s", command, "desk-1", 7, "because")
    time = shown.pop("time")
    assert (time[10], time[-1], len(time)) == ("T", "Z", 24)
    assert shown == {
        "level": "info",
        "logger": "a.logger",
        "message": f"command={command} machine=desk-1 took=7 ms: because",
        "command": str(command),
        "machine": "desk-1",
        "took": 7,
    }


def test_what_others_say_is_no_fact() -> None:
    shown = as_json("machine=%s disconnected: %s", "desk-1", 'admin=1 level=9 "\n{}')
    assert set(shown) == {"time", "level", "logger", "message", "machine"}
    assert (shown["machine"], shown["level"]) == ("desk-1", "info")


def test_facts_cannot_take_the_place_of_what_every_line_has() -> None:
    shown = as_json("%s", "x", facts={"level": "fatal", "path": "/a\u2028b"})
    assert (shown["level"], shown["path"], shown["message"]) == ("info", "/a\u2028b", "x")


@pytest.mark.parametrize("template", ["100%% of machine=%s", "%5.1f%% of machine=%s"])
def test_percent_signs_are_counted_right(template: str) -> None:
    arguments = ("desk-1",) if template.startswith("100") else (1.5, "desk-1")
    assert as_json(template, *arguments)["machine"] == "desk-1"


def test_line_without_values_and_one_that_is_no_template_are_written() -> None:
    assert as_json("stopped")["message"] == "stopped"
    assert as_json("%(a)s", {"a": 1})["message"] == "1"


def test_json_has_the_traceback() -> None:
    try:
        int("x")
    except ValueError:
        made = record("task failed")
        made.exc_info = sys.exc_info()
    assert "ValueError" in json.loads(JsonLine().format(made))["exception"]


def test_format_is_chosen_by_name() -> None:
    assert isinstance(log_formatter("json", "%(message)s"), JsonLine)
    chosen = log_formatter("text", "%(message)s")
    assert isinstance(chosen, TextLine)
    assert chosen.format(record("a\nb")) == "a\\nb"
