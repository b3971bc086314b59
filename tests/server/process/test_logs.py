import json
import logging
from collections.abc import Iterator

import pytest

from server.process.logs import configure_logging


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """Put back what the function changes for the whole process."""
    root = logging.getLogger()
    names = ("tornado.general", "pymongo")
    before = root.handlers[:], root.level, [logging.getLogger(name).level for name in names]
    flags = logging.logThreads, logging.logProcesses, logging.logMultiprocessing
    yield
    root.handlers[:], root.level = before[0], before[1]
    for name, level in zip(names, before[2], strict=True):
        logging.getLogger(name).setLevel(level)
    logging.logThreads, logging.logProcesses, logging.logMultiprocessing = flags


def test_lines_go_to_standard_error_with_time_and_level(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging("info")
    logging.getLogger("server.somewhere").info("machine=%s connected", "desk-1")
    logging.getLogger("server.somewhere").debug("not at this level")
    written = capsys.readouterr()
    assert written.out == ""
    (line,) = written.err.splitlines()
    assert line.endswith(" INFO server.somewhere machine=desk-1 connected")
    assert line[:4].isdigit()


def test_libraries_are_quiet_even_where_everything_is_wanted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging("debug")
    logging.getLogger("pymongo.command").debug("the documents themselves")
    logging.getLogger("tornado.general").info("chatter")
    assert capsys.readouterr().err == ""


def test_what_others_say_begins_no_line_and_steers_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging("info")
    forged = "gone\n2024-05-06T07:08:09.123 INFO forged\r\x1b[31m\u2028\u202e é 日本"
    logging.getLogger("server.somewhere").info("machine=desk-1 disconnected: %s", forged)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(
        "disconnected: gone\\n2024-05-06T07:08:09.123 INFO forged\\r\\x1b[31m\\u2028\\u202e é 日本"
    )


def test_traceback_keeps_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info")
    try:
        int("what went wrong")
    except ValueError:
        logging.getLogger("server.somewhere").exception("task failed")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith("ERROR server.somewhere task failed")
    assert lines[1].startswith("Traceback")
    assert lines[-1].startswith("ValueError: ")


def test_lines_are_json_where_that_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "json")
    logging.getLogger("server.somewhere").info("machine=%s connected", "desk-1")
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["machine"] == "desk-1"


def test_lines_of_one_of_several_nodes_have_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", node="host-1")
    logging.getLogger("server.somewhere").info("machine=%s connected", "desk-1")
    configure_logging("info", "json", node="host-1")
    logging.getLogger("server.somewhere").info("node=%s gone", "desk-1")
    text, as_json = capsys.readouterr().err.splitlines()
    assert text.endswith(" INFO server.somewhere node=host-1 machine=desk-1 connected")
    assert json.loads(as_json)["node"] == "host-1"
