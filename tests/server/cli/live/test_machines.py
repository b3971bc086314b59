"""``farhand machine list --watch``: with a real server and terminal, and its parts alone."""

import json
import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

from rich.console import Console

from server.cli.live.machines import HOME_AND_CLEAR, Watched
from tests.commandline import Served, command, environment, serving
from tests.processes import WAIT_SECONDS, free_port, until


def machine(machine_id: str = "desk-1", state: str = "online", **fields: Any) -> dict[str, Any]:
    """A machine as far as it is shown."""
    return {"id": machine_id, "state": state, "reason": "r", "since": "s", **fields}


def console() -> Console:
    """A terminal of ten lines."""
    return Console(file=StringIO(), width=100, height=10, force_terminal=True, no_color=True)


class Output:
    """What was written."""

    def __init__(self, *, redraws: bool = False, as_json: bool = False) -> None:
        self.written: list[str] = []
        self.watched = Watched(self.written.append, redraws=redraws, as_json=as_json)

    def take(self) -> list[str]:
        """What was written since the last time."""
        written, self.written[:] = self.written[:], []
        return written


def test_each_change_is_a_line_and_what_does_not_differ_is_none() -> None:
    output = Output()
    output.watched.read([machine(), machine("desk-2")])
    assert output.take() == ["s  desk-1  online  r\n", "s  desk-2  online  r\n"]
    output.watched.heard("machine", machine())
    output.watched.read([machine()])
    assert output.take() == ["desk-2  removed\n"]
    output.watched.heard("machine", machine(state="paused"))
    assert output.take() == ["s  desk-1  paused  r\n"]
    output.watched.heard("machine_removed", {"id": "desk-1"})
    output.watched.heard("machine_removed", {"id": "desk-1"})
    assert output.take() == ["desk-1  removed\n"]


def test_each_change_is_an_object_where_json_is_wanted() -> None:
    output = Output(as_json=True)
    output.watched.heard("machine", machine())
    output.watched.heard("machine_removed", {"id": "desk-1"})
    assert [json.loads(line) for line in output.take()] == [
        machine(),
        {"id": "desk-1", "state": "removed"},
    ]


def test_what_machines_say_steers_no_terminal() -> None:
    evil = machine(reason="\x1b[2J<script>[red]\n\u202e")
    lines = Output()
    lines.watched.heard("machine", evil)
    (line,) = lines.take()
    assert line == "s  desk-1  online  \ufffd[2J<script>[red]\ufffd\ufffd\n"
    drawn = Output(redraws=True)
    drawn.watched.heard("machine", evil)
    drawn.watched.draw(console())
    (screen,) = drawn.take()
    assert "[2J<script>[red]" in screen
    assert "\x1b[2J" not in screen


def test_table_is_drawn_only_after_a_change_and_fits_the_terminal() -> None:
    output = Output(redraws=True)
    output.watched.read([machine(f"desk-{number:02}") for number in range(20)])
    output.watched.draw(console())
    (screen,) = output.take()
    assert screen.startswith(HOME_AND_CLEAR)
    assert "desk-05" in screen
    assert "desk-06" not in screen
    assert "and 14 more" in screen
    assert screen.count("\n") < 10
    output.watched.draw(console())
    assert output.take() == []
    output.watched.remark("no word from the server")
    output.watched.draw(console())
    assert "no word from the server" in output.take()[0]


def test_id_is_whole_where_a_reason_takes_more_than_the_line() -> None:
    output, name = Output(redraws=True), "reception-3f0c6a52-8d2f-4b57-9f41"
    reason = "anna paused the machine until tomorrow: the printer is being swapped"
    output.watched.read([machine(name, name="Reception", reason=reason), machine("desk")])
    output.watched.draw(console())
    (screen,) = output.take()
    assert name in screen
    assert reason not in screen
    assert screen.count("\n") == 3


@contextmanager
def watching(served: Served, output: int, *options: str) -> Iterator["subprocess.Popen[bytes]"]:
    """The command as a process, which writes to this file."""
    process = subprocess.Popen(
        command(["machine", "list", "--watch", *options]),
        env=environment(FARHAND_DATA_DIR=str(served.data_dir), COLUMNS="100", LINES="40"),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_changes_are_lines_of_json_in_a_pipe_until_ctrl_c(served: Served, tmp_path: Path) -> None:
    machine_id = f"desk-{uuid4().hex[:8]}"
    served.run("machine", "add", machine_id)
    file = tmp_path / "output"

    def states() -> list[str]:
        # What comes behind the last end of a line may be the beginning of one.
        whole, _, _ = file.read_text().rpartition("\n")
        lines = [json.loads(line) for line in whole.splitlines()]
        return [line["state"] for line in lines if line["id"] == machine_id]

    with file.open("wb") as stream, watching(served, stream.fileno(), "--json") as process:
        until(lambda: states() == ["offline"], "the machine was shown")
        served.run("machine", "pause", machine_id)
        until(lambda: states() == ["offline", "paused"], "the pause was shown")
        served.run("machine", "remove", machine_id)
        until(lambda: states()[-1] == "removed", "the removal was shown")
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_SECONDS) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_table_is_redrawn_in_a_terminal(served: Served) -> None:
    # The first of all: a terminal has few lines, and the server the machines of other tests.
    machine_id = f"0-{uuid4().hex[:8]}"
    served.run("machine", "add", machine_id)
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    seen = bytearray()

    def screen() -> str:
        try:
            while piece := os.read(ours, 65536):
                seen.extend(piece)
        except OSError:
            pass
        return seen.decode(errors="replace").rpartition(HOME_AND_CLEAR)[2]

    try:
        with watching(served, theirs) as process:
            until(lambda: machine_id in screen(), "the machine was drawn")
            served.run("machine", "pause", machine_id)
            until(lambda: "paused" in screen(), "the pause was drawn")
            process.send_signal(signal.SIGINT)
            assert process.wait(WAIT_SECONDS) == 0
    finally:
        os.close(ours)
        os.close(theirs)


def test_server_that_comes_back_is_heard_again(mongodb: str, tmp_path: Path) -> None:
    file, data_dir, port = tmp_path / "output", tmp_path / "data", str(free_port())
    with file.open("wb") as stream, ExitStack() as ending:
        with serving(mongodb, data_dir, "test_watching", "--port", port) as served:
            served.run("machine", "add", "desk-1")
            process = ending.enter_context(watching(served, stream.fileno()))
            until(lambda: "desk-1  offline" in file.read_text(), "the machine was shown")
        with serving(mongodb, data_dir, "test_watching", "--port", port) as served:
            served.run("machine", "pause", "desk-1")
            until(lambda: "desk-1  paused" in file.read_text(), "the pause was shown")
            process.send_signal(signal.SIGINT)
            assert process.wait(WAIT_SECONDS) == 0
            assert process.stderr is not None
            assert b"trying again" in process.stderr.read()


def test_ends_with_the_reader_of_its_pipe(served: Served) -> None:
    served.run("machine", "add", f"desk-{uuid4().hex[:8]}")
    reading, writing = os.pipe()
    with watching(served, writing, "--json") as process:
        os.close(writing)
        assert os.read(reading, 1)
        os.close(reading)
        served.run("machine", "add", f"desk-{uuid4().hex[:8]}")
        assert process.wait(WAIT_SECONDS) == 1
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_refusal_is_a_sentence_and_code_1(served: Served) -> None:
    token = served.run("token", "create", "--name", "n", "--scope", "input:send").stdout.strip()
    result = subprocess.run(
        command(["machine", "list", "--watch", "--url", served.url, "--token", token]),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 1
    assert "machines:read" in result.stderr
    assert "Traceback" not in result.stderr
