"""A MongoDB replica set, whose members can be killed, stopped and woken."""

import contextlib
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pymongo
from pymongo.errors import OperationFailure, PyMongoError

from server.store.embedded_mongod import find_mongod
from tests.faults.supervised_process import SupervisedProcess, child
from tests.processes import free_port, until

NAME = "faults"
ELECTION_MILLISECONDS = 2000
HEARTBEAT_MILLISECONDS = 500
START_SECONDS = 60.0

_ALREADY_INITIALIZED, _OTHERS_DO_NOT_ANSWER = 23, 74


class Member:
    """One mongod on a port of 127.0.0.1; started again whenever it ends."""

    def __init__(self, directory: Path, mongod: Path) -> None:
        self.port = free_port()
        self._directory = directory
        self._mongod = mongod
        self._client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(
            "127.0.0.1",
            self.port,
            directConnection=True,
            connect=False,
            serverSelectionTimeoutMS=500,
            connectTimeoutMS=500,
            socketTimeoutMS=4000,
        )
        self.process = SupervisedProcess(f"mongod {directory.name}", self._run)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def command(self, name: str, value: Any = 1, **options: Any) -> dict[str, Any]:
        """Run a command of the database ``admin`` on this member.  Raises PyMongoError."""
        return self._client.admin.command(name, value, **options)

    def hello(self) -> dict[str, Any]:
        """What the member says of itself; empty where it does not answer."""
        try:
            return self.command("hello")
        except PyMongoError:
            return {}

    def close(self) -> None:
        """End it for good; the client of one that cannot be ended is closed all the same."""
        with contextlib.closing(self._client):
            self.process.close()

    @contextlib.contextmanager
    def _run(self) -> Iterator[subprocess.Popen[bytes]]:
        data = self._directory / "db"
        data.mkdir(parents=True, exist_ok=True)
        with child(
            self._directory / "mongod.log",
            str(self._mongod),
            *("--dbpath", str(data), "--replSet", NAME, "--oplogSize", "64"),
            *("--bind_ip", "127.0.0.1", "--port", str(self.port), "--nounixsocket"),
            *("--networkMessageCompressors", "disabled"),
            *("--wiredTigerCacheSizeGB", "0.25", "--quiet"),
            *("--setParameter", "diagnosticDataCollectionEnabled=false"),
        ) as process:
            yield process


class ReplicaSet:
    """Three members, or fewer; elections take two or three seconds."""

    def __init__(self, directory: Path, members: int = 3) -> None:
        mongod = find_mongod()
        self.members = [Member(directory / f"member-{number}", mongod) for number in range(members)]

    @property
    def uri(self) -> str:
        """The address of all members."""
        return uri_of(*(member.port for member in self.members))

    @classmethod
    @contextlib.contextmanager
    def running(cls, directory: Path, members: int = 3) -> Iterator["ReplicaSet"]:
        """Start the members; yields once one is primary and the others follow it."""
        replica_set = cls(directory, members)
        with contextlib.ExitStack() as stack:
            for member in replica_set.members:
                stack.callback(member.close)
            for member in replica_set.members:
                member.process.start()
            replica_set._initiate()
            replica_set.wait_until_whole()
            yield replica_set

    def primary(self) -> Member | None:
        """The member that says it is primary, if one does."""
        return self._first(lambda hello: bool(hello.get("isWritablePrimary")))

    def secondary(self, rng: random.Random) -> Member | None:
        """Any member that follows the primary."""
        followers = [member for member in self.members if member.hello().get("secondary")]
        return rng.choice(followers) if followers else None

    def is_whole(self) -> bool:
        """Whether one member is primary and all others follow it."""
        states = [member.hello() for member in self.members]
        primaries = sum(bool(state.get("isWritablePrimary")) for state in states)
        followers = sum(bool(state.get("secondary")) for state in states)
        return (primaries, followers) == (1, len(self.members) - 1)

    def wait_until_whole(self) -> None:
        """Wait until every member does its part again."""
        until(self.is_whole, "the replica set is whole", START_SECONDS)

    def step_down(self) -> bool:
        """Have the primary give up its part; False where it could not."""
        primary = self.primary()
        if primary is None:
            return False
        try:
            primary.command("replSetStepDown", 3, secondaryCatchUpPeriodSecs=2)
        except PyMongoError:
            return False
        return True

    @staticmethod
    def pause(member: Member, seconds: float) -> bool:
        """Stop a member for so long, then wake it; False where it does not run."""
        if not member.process.signal(signal.SIGSTOP):
            return False
        try:
            time.sleep(seconds)
        finally:
            member.process.signal(signal.SIGCONT)
        return True

    def _first(self, fits: Callable[[dict[str, Any]], bool]) -> Member | None:
        return next((member for member in self.members if fits(member.hello())), None)

    def _initiate(self) -> None:
        first = self.members[0]
        until(first.hello, "the first member answers", START_SECONDS)
        configuration = {
            "_id": NAME,
            "members": [
                {"_id": number, "host": member.address}
                for number, member in enumerate(self.members)
            ],
            "settings": {
                "electionTimeoutMillis": ELECTION_MILLISECONDS,
                "heartbeatIntervalMillis": HEARTBEAT_MILLISECONDS,
            },
        }
        until(lambda: all(member.hello() for member in self.members), "all answer", START_SECONDS)
        until(
            lambda: _is_initiated(first, configuration),
            "the set has a configuration",
            START_SECONDS,
        )


def _is_initiated(first: Member, configuration: Mapping[str, Any]) -> bool:
    """Have it be so; False where one of them takes longer to answer than another waits."""
    try:
        first.command("replSetInitiate", configuration)
    except OperationFailure as error:
        if error.code == _OTHERS_DO_NOT_ANSWER:
            return False
        if error.code != _ALREADY_INITIALIZED:
            raise
    except PyMongoError:
        return False
    return True


def uri_of(*ports: int) -> str:
    """The address of the members that are found at these ports of 127.0.0.1."""
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    return f"mongodb://{hosts}/?replicaSet={NAME}"
