"""What is the same of every program that we bring along; each one's own is in its own test."""

import asyncio
import logging
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from server.programs import embedded_program
from server.programs.embedded_program import EmbeddedProgram
from tests.processes import until

# It leaves its number once it runs, and ends by itself where that is asked for.
PROGRAM = """
import os, sys, time
from pathlib import Path
print("it begins", flush=True)
if sys.argv[2] == "ready":
    Path("pid.new").write_text(str(os.getpid()))
    Path("pid.new").replace("pid")
if sys.argv[2] != "ended":
    time.sleep(600)
sys.exit(3)
"""


class SleeperError(Exception):
    """It cannot be started, or has ended."""


class Sleeper(EmbeddedProgram):
    what = "Sleep"
    program = "sleeper"
    setting = "FARHAND_SLEEPER"
    failure = SleeperError
    start_seconds = 20.0
    stop_seconds = 5.0
    becomes = "ready"

    def _find(self) -> Path:
        return Path(sys.executable)

    def _prepare(self) -> list[str]:
        (self._directory / "pid").unlink(missing_ok=True)
        return ["-c", PROGRAM, str(self._directory), self.becomes]

    async def _become_ready(self) -> str:
        while not (self._directory / "pid").exists():
            self._check_alive()
            await asyncio.sleep(0.005)
        return f"sleep://{self._directory}"

    def _traces(self) -> tuple[Path, Path]:
        return self._directory / "pid", self._directory

    def _last_words(self, lines: list[str]) -> str:
        return lines[-1] if lines else "it said nothing"


def started(directory: Path) -> "subprocess.Popen[bytes]":
    """The program as it is started there, without the promise to die with its parent."""
    command = [sys.executable, "-c", PROGRAM, str(directory), "ready"]
    return subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL)


async def test_it_runs_until_it_is_stopped_and_can_be_started_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sleeper = Sleeper(tmp_path)
    assert (sleeper.pid, sleeper.is_alive) == (None, False)
    for _ in range(2):
        with caplog.at_level(logging.INFO):
            assert await sleeper.start() == f"sleep://{tmp_path}"
        assert sleeper.is_alive
        assert (tmp_path / "pid").read_text() == str(sleeper.pid)
        await sleeper.stop()
        assert (sleeper.pid, sleeper.is_alive) == (None, False)
    await sleeper.stop()
    assert [record.getMessage().partition(" after")[0] for record in caplog.records] == [
        "the embedded Sleep is ready"
    ] * 2


async def test_one_that_runs_is_neither_started_again_nor_shared(tmp_path: Path) -> None:
    sleeper = Sleeper(tmp_path)
    await sleeper.start()
    pid = sleeper.pid
    with pytest.raises(SleeperError, match="This embedded Sleep is started already"):
        sleeper.launch()
    with pytest.raises(SleeperError, match=r"Another server already uses .*FARHAND_SLEEPER"):
        Sleeper(tmp_path).launch()
    assert sleeper.is_alive
    assert sleeper.pid == pid
    await sleeper.stop()


async def test_one_that_outlived_its_parent_is_ended_first(tmp_path: Path) -> None:
    stray = started(tmp_path)
    sleeper = Sleeper(tmp_path)
    try:
        until((tmp_path / "pid").exists, "it runs")
        await sleeper.start()
        assert stray.poll() == -signal.SIGKILL
        assert sleeper.pid not in (None, stray.pid)
    finally:
        stray.kill()
        stray.wait()
        await sleeper.stop()


async def test_what_is_not_started_is_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(SleeperError, match="This embedded Sleep is not started"):
        await Sleeper(tmp_path).until_ready()


async def test_start_that_takes_too_long_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sleeper, "becomes", "silent")
    monkeypatch.setattr(Sleeper, "start_seconds", 0.05)
    sleeper = Sleeper(tmp_path)
    with pytest.raises(SleeperError, match=r"sleeper was not ready after 0\.05 s; see .*\.log"):
        await sleeper.start()
    assert sleeper.pid is None


async def test_end_at_once_is_told_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sleeper, "becomes", "ended")
    with pytest.raises(SleeperError, match=r"at once, with status 3: it begins \(its log is .*\)"):
        await Sleeper(tmp_path).start()
    monkeypatch.setattr(embedded_program, "LITTLE_ROOM", 1 << 60)
    with pytest.raises(
        SleeperError, match=rf"The disk of {tmp_path} has \d+ MiB left: make room\.$"
    ):
        await Sleeper(tmp_path).start()


async def test_end_by_itself_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sleeper, "becomes", "ended")
    sleeper = Sleeper(tmp_path)
    sleeper.launch()
    with pytest.raises(SleeperError, match="The embedded sleeper ended by itself; its log is"):
        await sleeper.until_ended()
    await sleeper.stop()


async def test_directory_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for directory in (file, file / "below", Path("/sys/farhand")):
        with pytest.raises(SleeperError, match=f"Sleep cannot use {directory}: "):
            await Sleeper(directory).start()


async def test_its_directory_is_closed_to_others(tmp_path: Path) -> None:
    directory = tmp_path / "open"
    directory.mkdir(mode=0o777)
    sleeper = Sleeper(directory)
    await sleeper.start()
    assert directory.stat().st_mode & 0o777 == 0o700
    await sleeper.stop()
