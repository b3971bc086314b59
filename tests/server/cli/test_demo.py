"""``farhand demo`` as people start it, with real children, ended in every way."""

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from tests.processes import RUN_SECONDS, Program, run, running, until

SHOWN = (
    *("mouse/move", "mouse/click", "mouse/drag", "mouse/scroll", "keyboard/key", "keyboard/type"),
    *("completed", "replayed", "16 drags, 2 clicks, 3 wheel notches, 16 keys, each once"),
    *("4 of 4", "With keyboard shortcuts", "latest of workflow"),
)
ONCE = ("farhand", "demo", "--once", "--no-run")
"""Without the run: tests/browser/test_demo.py helps one, and CI has the demo help itself."""


class Demo:
    """A demo whose children can be found: they inherit a variable that is nobody else's."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        mark = str(uuid4())
        self.marker = f"DEMO_TEST={mark}"
        self.variables = {"DEMO_TEST": mark, "TMPDIR": str(directory)}

    @contextmanager
    def running(self, *options: str) -> Iterator[Program]:
        command = ("farhand", "demo", "--no-run", *options)
        try:
            with running(self.directory / "demo.out", self.variables, *command) as program:
                yield program
            until(lambda: not self.processes(), "the children of a killed demo end")
        finally:
            for left_over in self.processes():
                os.kill(left_over, signal.SIGKILL)

    def processes(self) -> dict[int, str]:
        """The command lines of the demo and its children that live, by process id."""
        found = {}
        for directory in Path("/proc").iterdir():
            with suppress(OSError):
                if self.marker.encode() in (directory / "environ").read_bytes().split(b"\0"):
                    command = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(directory.name)] = command
        return found

    def left_over(self) -> list[Path]:
        return list(self.directory.glob("farhand-demo-*"))


def ready_to_stay(program: Program) -> None:
    program.says("Ctrl-C ends everything", RUN_SECONDS)


def test_tour_shows_every_input_and_read_and_leaves_nothing(tmp_path: Path) -> None:
    demo = Demo(tmp_path)
    ended = run(*ONCE, **demo.variables)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for text in (*SHOWN, "all went well"):
        assert text in ended.stdout
    assert max(map(len, ended.stdout.splitlines())) <= 80
    assert ended.stderr == ""
    assert demo.processes() == {}
    assert demo.left_over() == []


def test_stays_until_terminated_and_then_leaves_nothing(tmp_path: Path) -> None:
    demo = Demo(tmp_path)
    with demo.running() as program:
        ready_to_stay(program)
        names = " ".join(demo.processes().values())
        assert all(name in names for name in ("Xvfb", "mongod", "serve", "join", "demo.window"))
        assert len(demo.left_over()) == 1
        command = next(line for line in program.output.splitlines() if "machine show" in line)
        shown = run(*command.split())
        assert "online" in shown.stdout, shown.stderr
        assert program.terminate() == 0
        assert demo.processes() == {}
        assert demo.left_over() == []


def test_interrupted_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    demo = Demo(tmp_path)
    with demo.running() as program:
        program.says("virtual desktop")
        program.process.send_signal(signal.SIGINT)
        assert program.ends() == 1
        assert "interrupted before the end" in program.output
        assert demo.processes() == {}
        assert demo.left_over() == []


def test_children_of_a_killed_demo_die_with_it(tmp_path: Path) -> None:
    demo = Demo(tmp_path)
    with demo.running() as program:
        ready_to_stay(program)
        assert len(demo.processes()) >= 6
        program.kill()
        until(lambda: not demo.processes(), "all children die")


def test_child_that_dies_ends_the_demo_with_its_name_and_nothing_is_in_the_way_of_another(
    tmp_path: Path,
) -> None:
    """In one go, a tour takes seconds: the other finds a data directory that was used before.

    It also finds its port taken, settings of a real server, and a poor terminal.
    """
    demo, data = Demo(tmp_path), tmp_path / "data"
    with demo.running("--data-dir", str(data)) as program:
        ready_to_stay(program)
        machine = next(pid for pid, command in demo.processes().items() if " join " in command)
        os.kill(machine, signal.SIGKILL)
        assert program.ends() == 1
        assert "Error: machine ended with status -9" in program.output
        assert "connected to http://" in program.output
        assert demo.processes() == {}
    with taken_port():
        ended = run(*ONCE, "--data-dir", str(data), **demo.variables, **OBSTACLES)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "(8600 is taken)" in ended.stdout
    assert "? all went well" in ended.stdout
    assert (data / "admin-token").stat().st_mode & 0o777 == 0o600


OBSTACLES = {
    "PYTHONIOENCODING": "ascii",
    "FARHAND_MONGODB_URI": "mongodb://127.0.0.1:1",
    "FARHAND_MACHINE_PROXY": "http://127.0.0.1:1",
    "http_proxy": "http://127.0.0.1:1",
}


@contextmanager
def taken_port() -> Iterator[None]:
    """The one that the demo would take."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Somebody else may hold it, which is as good.
        with suppress(OSError):
            holder.bind(("127.0.0.1", 8600))
            holder.listen()
        yield


def test_without_xvfb_one_line_says_what_to_install(tmp_path: Path) -> None:
    ended = run(*ONCE, PATH=str(tmp_path))
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    assert "apt-get install xvfb" in ended.stderr


def test_display_that_does_not_start_says_why(tmp_path: Path) -> None:
    demo = Demo(tmp_path)
    broken = tmp_path / "Xvfb"
    broken.write_text("#!/bin/sh\necho no keyboard for you >&2\nexit 3\n")
    broken.chmod(0o700)
    ended = run(*ONCE, **{**demo.variables, "PATH": str(tmp_path)})
    assert ended.returncode == 1
    assert "Xvfb ended with status 3" in ended.stderr
    assert "no keyboard for you" in ended.stderr
    assert demo.processes() == {}
    assert demo.left_over() == []
