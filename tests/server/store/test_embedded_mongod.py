import asyncio
import contextlib
import importlib.util
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from uuid import uuid4

import pytest

from server.errors import EmbeddedMongoDBError
from server.store.embedded_mongod import EmbeddedMongoDB, find_mongod, last_words
from server.store.mongodb.database import Database
from tests.processes import is_gone
from tests.waiting import until

# A server in a process of its own: it writes documents, tells each one that was acknowledged,
# and never ends by itself.
OWNER = """
import asyncio, sys
from pathlib import Path
from server.store.mongodb.database import Database
from server.store.embedded_mongod import EmbeddedMongoDB

async def main():
    embedded = EmbeddedMongoDB(Path(sys.argv[1]))
    database = await Database.open(await embedded.start(), "owner")
    print(embedded.pid, flush=True)
    for number in range(1_000_000):
        await database.collection("things").insert_one({"_id": number})
        print(number, flush=True)

asyncio.run(main())
"""


@asynccontextmanager
async def running(directory: Path) -> AsyncIterator[str]:
    embedded = EmbeddedMongoDB(directory)
    try:
        yield await embedded.start()
    finally:
        await embedded.stop()


def start_owner(directory: Path) -> tuple[subprocess.Popen[str], int]:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(directory)], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    return owner, int(owner.stdout.readline())


def acknowledged(owner: subprocess.Popen[str], *, at_least: int) -> int:
    """Read that many acknowledgements, kill the owner, and read what it still said."""
    assert owner.stdout is not None
    numbers = [int(owner.stdout.readline()) for _ in range(at_least)]
    owner.kill()
    # The last line may be cut short by the kill.
    numbers += [int(line) for line in owner.stdout if line.endswith("\n")]
    owner.wait()
    owner.stdout.close()
    return numbers[-1]


def start_stray(directory: Path) -> subprocess.Popen[bytes]:
    """Start mongod as the class does, but without the promise to die with its parent."""
    arguments = [str(find_mongod()), "--dbpath", str(directory / "db"), "--replSet", "farhand"]
    return subprocess.Popen(
        [*arguments, "--bind_ip", "./mongod.sock", "--nounixsocket"],
        cwd=directory,
        stdout=subprocess.DEVNULL,
    )


def start_bystander() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "600"])


def leave_socket(path: Path) -> None:
    code = "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)


def open_sockets(pid: int | None) -> set[str]:
    sockets = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        # Others come and go meanwhile; the listening ones stay.
        with contextlib.suppress(FileNotFoundError):
            target = str(descriptor.readlink())
            if target.startswith("socket:"):
                sockets.add(target)
    return sockets


def tcp_sockets(pid: int | None) -> set[str]:
    """The TCP sockets of everybody in the process's network, as open_sockets names them."""
    tables = [Path(f"/proc/{pid}/net/{table}").read_text() for table in ("tcp", "tcp6")]
    lines = [line for table in tables for line in table.splitlines()[1:]]
    return {f"socket:[{line.split()[9]}]" for line in lines}


async def test_acknowledged_writes_outlive_a_killed_owner(tmp_path: Path) -> None:
    owner, pid = start_owner(tmp_path)
    last = acknowledged(owner, at_least=50)
    await until(lambda: is_gone(pid))
    async with running(tmp_path) as uri:
        database = await Database.open(uri, "owner")
        with closing(database):
            things = database.collection("things")
            found = [thing["_id"] async for thing in things.find().sort("_id", 1)]
            assert found[: last + 1] == list(range(last + 1))


async def test_mongod_that_outlived_its_owner_is_ended_first(tmp_path: Path) -> None:
    async with running(tmp_path):
        pass
    stray = start_stray(tmp_path)
    lock = tmp_path / "db" / "mongod.lock"
    try:
        await until(lambda: lock.read_text().strip() == str(stray.pid))
        async with running(tmp_path):
            assert await asyncio.to_thread(stray.wait) == -signal.SIGKILL
    finally:
        stray.kill()
        stray.wait()


async def test_process_that_merely_has_the_number_is_left_alone(tmp_path: Path) -> None:
    bystander = start_bystander()
    try:
        (tmp_path / "db").mkdir()
        (tmp_path / "db" / "mongod.lock").write_text(f"{bystander.pid}\n")
        async with running(tmp_path):
            assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


async def test_second_server_on_the_same_directory_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as uri:
        with pytest.raises(EmbeddedMongoDBError, match="Another server already uses"):
            await EmbeddedMongoDB(tmp_path).start()
        # The first is none the worse for it.
        database = Database(uri)
        await database.ping()
        database.close()


async def test_stop_ends_mongod_and_it_can_start_again(tmp_path: Path) -> None:
    embedded = EmbeddedMongoDB(tmp_path)
    for _ in range(2):
        await embedded.start()
        pid = embedded.pid
        assert pid is not None
        await embedded.stop()
        assert embedded.pid is None
        assert is_gone(pid)
    await embedded.stop()


async def test_starting_twice_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    embedded = EmbeddedMongoDB(tmp_path)
    uri = await embedded.start()
    with pytest.raises(EmbeddedMongoDBError, match="started already"):
        await embedded.start()
    database = Database(uri)
    await database.ping()
    database.close()
    await embedded.stop()


async def test_only_we_can_reach_it(tmp_path: Path) -> None:
    directory = tmp_path / "open"
    directory.mkdir(mode=0o777)
    embedded = EmbeddedMongoDB(directory)
    await embedded.start()
    try:
        for path in (directory, directory / "mongod.sock"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert open_sockets(embedded.pid)
        assert not open_sockets(embedded.pid) & tcp_sockets(embedded.pid)
    finally:
        await embedded.stop()


async def test_long_path_and_moved_directory_are_no_obstacle(tmp_path: Path) -> None:
    marker = uuid4().hex
    first, second = tmp_path / "first", tmp_path / ("x" * 120) / "a b%20é"
    for directory in (first, second):
        if directory is second:
            second.parent.mkdir()
            first.rename(second)
        async with running(directory) as uri:
            database = await Database.open(uri, "moved")
            things = database.collection("things")
            await things.update_one({"_id": marker}, {"$inc": {"starts": 1}}, upsert=True)
            found = await things.find_one()
            database.close()
    assert found == {"_id": marker, "starts": 2}


@pytest.mark.parametrize("name", ["short", "x" * 120])
async def test_started_again_it_is_reached_by_the_same_uri(tmp_path: Path, name: str) -> None:
    embedded = EmbeddedMongoDB(tmp_path / name)
    uri = await embedded.start()
    try:
        assert embedded.pid is not None
        os.kill(embedded.pid, signal.SIGKILL)
        with pytest.raises(EmbeddedMongoDBError, match="ended by itself"):
            await embedded.until_ended()
        await embedded.stop()
        assert await embedded.start() == uri
    finally:
        await embedded.stop()


async def test_socket_left_by_a_crash_is_replaced(tmp_path: Path) -> None:
    async with running(tmp_path):
        pass
    leave_socket(tmp_path / "mongod.sock")
    async with running(tmp_path):
        pass


async def test_database_that_dies_at_start_says_why(tmp_path: Path) -> None:
    async with running(tmp_path):
        pass
    (tmp_path / "db" / "WiredTiger.turtle").write_bytes(b"not a turtle")
    with pytest.raises(EmbeddedMongoDBError, match=r"ended at once.*fatal turtle") as caught:
        await EmbeddedMongoDB(tmp_path).start()
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "mongod.log") in str(caught.value)


async def test_program_that_is_no_mongod_says_why(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedMongoDBError, match="status"):
        await EmbeddedMongoDB(tmp_path, binary=Path("/bin/false")).start()


def test_mongod_on_the_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "mongod"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_mongod() == program


def test_without_any_mongod_one_sentence_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(EmbeddedMongoDBError) as caught:
        find_mongod()
    for hint in ("FARHAND_MONGODB_URI", "[embedded-mongodb]'", "PATH"):
        assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "it said nothing"),
        (["libcurl.so.4: cannot open", "more"], "libcurl.so.4: cannot open"),
        (['{"s":"I","msg":"fine"}'], "it said nothing"),
        (['{"s":"I","msg":"x"}', '{"s":"E","msg":"Bad","attr":{"error":"no"}}'], "Bad: no"),
        (['{"s":"F","msg":"Out","attr":{"reason":"12:\\n no"}}', "[]", "null"], "Out: 12: no"),
        (['{"s":"E","msg":"WT","attr":{"error":-1,"message":{"msg":"why"}}}'], "WT: why"),
    ],
)
def test_last_words_are_the_first_complaint(lines: list[str], words: str) -> None:
    assert last_words(lines) == words
