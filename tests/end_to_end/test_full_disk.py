"""A full disk: that of a machine's client, with no room for its journal, or that of MongoDB."""

import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

import pymongo
import pytest
from pymongo.errors import PyMongoError

from schemas.steps.step import GAP
from tests.desktop import Witness
from tests.end_to_end.system import System, Workstation, presses, sees
from tests.end_to_end.test_recorded_crashes import begun, clicked, steps_are, stopped
from tests.end_to_end.test_restart import came_back
from tests.processes import Program, ServerProcess, go_on, state_of, until

DISK_BYTES = 1024 * 1024
DATABASE_BYTES = 340 * DISK_BYTES
"""Some 300 of these are taken as soon as a server has begun: by logs that are written ahead."""

QUIET = {"heartbeat": "60"}
"""Settings of a server that does not make the journal write by its heartbeats."""


class SmallDisk(Protocol):
    """Where a client has its journal; ``directory`` is for its ``state_dir``."""

    directory: Path

    def fill(self, client: Program) -> None:
        """Leave no room for another entry of the client's journal."""

    def make_room(self, client: Program) -> None:
        """Take that back."""


class SmallFileSystem:
    """A file system of its own, with something in it that takes all the room there is."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._filler = directory / "filler"

    def fill(self, _client: Program | None = None) -> None:
        with contextlib.suppress(OSError), self._filler.open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(65536))
        assert os.statvfs(self.directory).f_bavail == 0

    def make_room(self, _client: Program | None = None) -> None:
        self._filler.unlink()


class LimitedFiles:
    """The system's bound of a process's files, at the size that its journal has come to.

    Nobody needs rights for it, and SQLite says of it what it says of a broken disk.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def fill(self, client: Program) -> None:
        (log,) = self.directory.glob("*.sqlite3-wal")
        self._limit(client, log.stat().st_size)

    def make_room(self, client: Program) -> None:
        self._limit(client, resource.RLIM_INFINITY)

    def _limit(self, client: Program, size: int) -> None:
        resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@contextlib.contextmanager
def mounted(directory: Path, size: int) -> Iterator[SmallFileSystem]:
    """A file system of this size; only root can have one."""
    directory.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(directory))
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a file system can be mounted by root alone")
    yield SmallFileSystem(directory)
    subprocess.run(("umount", "--lazy", str(directory)), check=True)


@pytest.fixture
def file_system(tmp_path: Path) -> Iterator[SmallFileSystem]:
    """A small one, for a client's journal."""
    with mounted(tmp_path / "state", DISK_BYTES) as file_system:
        yield file_system


@pytest.fixture(params=["file system", "file size"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> SmallDisk:
    if request.param == "file size":
        return LimitedFiles(tmp_path / "state")
    file_system: SmallFileSystem = request.getfixturevalue("file_system")
    return file_system


@pytest.fixture
def machine(tmp_path: Path, display: str) -> Iterator[Workstation]:
    """A machine of a server of the test's own; its client is the test's to start."""
    server = ServerProcess(tmp_path, **QUIET)
    with server.run():
        api = server.api()
        yield Workstation.added(server.url, api, display, tmp_path)
        api.close()


def checkpointed(file_system: SmallFileSystem) -> None:
    """Have an embedded MongoDB write what it has, as it does every minute by itself."""
    socket = quote(str(file_system.directory / "mongodb" / "mongod.sock"), safe="")
    uri = f"mongodb://{socket}/?directConnection=true"
    with pymongo.MongoClient[dict[str, object]](uri) as mongod, contextlib.suppress(PyMongoError):
        mongod.admin.command("fsync")


def is_offline_because_of_its_journal(machine: Workstation) -> None:
    """Wait until an operator sees what is wrong."""

    def is_shown() -> bool:
        told = machine.api.machine(machine.machine)
        return (
            told["state"] == "offline"
            and "the machine's journal cannot be written" in told["reason"]
        )

    until(is_shown, "the machine is shown as offline, with the reason")


def test_nothing_is_injected_that_the_journal_has_no_room_for(
    machine: Workstation, disk: SmallDisk, witness: Witness
) -> None:
    with machine.joined(state_dir=disk.directory) as client:
        recording = begun(machine)
        assert machine.send("mouse/click", "before", x=900, y=700).status == 200
        assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]
        disk.fill(client)
        failed = machine.send("mouse/click", "full", x=900, y=700)
        assert (failed.status, failed.json["code"]) == (502, "journal_failed"), failed.body
        assert (failed.json["injected_at_least"], failed.json["final"]) == (0, True)
        is_offline_because_of_its_journal(machine)
        assert machine.send("mouse/click", "meanwhile", x=900, y=700).status == 503
        assert witness.take() == []
        assert client.runs
        disk.make_room(client)
        machine.is_in_state("online")
        assert machine.send("mouse/click", "meanwhile", x=900, y=700).status == 200
        assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]
        assert machine.send("mouse/click", "full", x=900, y=700).body == failed.body
        assert witness.take() == []
        # Nothing happened meanwhile, and so nothing is recorded, nor missing.
        assert [step["operation"] for step in stopped(machine, recording)] == ["mouse.click"] * 2
        assert client.terminate() == 0
        assert "Traceback" not in client.output


def test_what_ran_while_the_disk_filled_up_is_answered_truly(
    machine: Workstation, disk: SmallDisk, witness: Witness
) -> None:
    drag = {"start_x": 100, "start_y": 600, "to_x": 1100, "to_y": 700, "duration": 1}
    with machine.joined(state_dir=disk.directory, failpoints="after-press=stop") as client:
        recording = begun(machine)
        dragging = machine.begin("mouse/drag", "dragged", **drag)
        until(lambda: state_of(client.process.pid) == "T", "it stands still in the drag")
        disk.fill(client)
        go_on(client.process.pid)
        client.says("closing the link (4007): the machine's journal cannot be written")
        assert dragging.result().status == 504
        sees(witness, "ButtonRelease 1")
        is_offline_because_of_its_journal(machine)
        disk.make_room(client)
        machine.is_in_state("online")
        assert machine.send("mouse/drag", "dragged", **drag).status == 200
        assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]
        operations = [step["operation"] for step in stopped(machine, recording)]
        assert operations == [GAP, "mouse.drag"]


def test_client_that_starts_on_a_full_disk_says_so_until_there_is_room(
    machine: Workstation, file_system: SmallFileSystem, witness: Witness
) -> None:
    with machine.joined(state_dir=file_system.directory) as client:
        assert client.terminate() == 0
    file_system.fill()
    with machine.joined(state_dir=file_system.directory, state="offline", wait=False) as client:
        is_offline_because_of_its_journal(machine)
        assert machine.send("mouse/click", "full", x=900, y=700).status == 503
        assert client.runs
        file_system.make_room(client)
        machine.is_in_state("online")
        assert machine.send("mouse/click", "full", x=900, y=700).status == 200
        assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]


def test_recording_goes_on_once_its_database_has_room_again(
    tmp_path: Path, display: str, witness: Witness
) -> None:
    server = ServerProcess(tmp_path, **QUIET)
    with (
        mounted(tmp_path / "data", DATABASE_BYTES) as file_system,
        System.running(server, display) as system,
    ):
        machine = system.workstation
        recording = begun(machine)
        for number in range(3):
            clicked(machine, number)
        until(lambda: steps_are(machine, recording, 3), "the steps are written")
        file_system.fill()
        checkpointed(file_system)
        assert system.program.ends() != 0
        words = f"The disk of {tmp_path / 'data' / 'mongodb'} has 0 MiB left: make room."
        assert words in system.program.output
        file_system.make_room()
        with server.run():
            came_back(system)
            clicked(machine, 4)
            steps = stopped(machine, recording)
    done = [(step["operation"], step["body"].get("x")) for step in steps]
    clicks = [("mouse.click", 0), ("mouse.click", 1), ("mouse.click", 2)]
    assert done == [*clicks, (GAP, None), ("mouse.click", 4)]
    assert presses(witness.take()).count("ButtonPress 1") == len(clicks) + 1
