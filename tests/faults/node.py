"""A node of the run, and what several of them need: NATS, and each its own cables."""

import contextlib
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from server.bus.nats_server import find_nats_server
from tests.faults.cabling import Cable, Cabling, MongodbReplies
from tests.faults.replica_set import ReplicaSet, uri_of
from tests.faults.supervised_process import SupervisedProcess, child
from tests.processes import Process, ServerProcess, free_port, until

INPUT_TIMEOUT_SECONDS = 8

NATS_CONFIGURATION = (Path(__file__).parents[2] / "config" / "nats.conf").read_text()

_SETTINGS = {"input_timeout": str(INPUT_TIMEOUT_SECONDS), "heartbeat": "1"}


class Nats:
    """A nats-server on one port of 127.0.0.1; started again whenever it ends."""

    def __init__(self, directory: Path) -> None:
        self.port = free_port()
        self._log = directory / "nats.log"
        self._configuration = directory / "nats.conf"
        # How soon it finds out that nothing comes through any more is as we ship it.
        pings = [line for line in NATS_CONFIGURATION.splitlines() if line.startswith("ping_")]
        lines = [f'listen: "127.0.0.1:{self.port}"', *pings]
        self._configuration.write_text("\n".join(lines))
        self.process = SupervisedProcess("nats-server", self._run)

    @classmethod
    @contextlib.contextmanager
    def running(cls, directory: Path) -> Iterator["Nats"]:
        """Start it; yields once it takes connections, and so has its port."""
        nats = cls(directory)
        nats.process.start()
        with contextlib.closing(nats.process):
            until(nats._listens, "nats-server takes connections")
            yield nats

    @property
    def url(self) -> str:
        """Where it is found without a cable."""
        return f"nats://127.0.0.1:{self.port}"

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    @contextlib.contextmanager
    def _run(self) -> Iterator[Process]:
        command = str(find_nats_server()), "--config", str(self._configuration)
        with child(self._log, *command) as process:
            yield process


@dataclass(frozen=True)
class NodeCables:
    """The cables from one node to NATS, and to each member of the replica set."""

    nats: Cable
    mongodb: tuple[Cable, ...]

    @classmethod
    @contextlib.contextmanager
    def laid(cls, nats: Nats, replica_set: ReplicaSet) -> Iterator["NodeCables"]:
        with Cabling() as cabling:
            read_reply = MongodbReplies()
            to_mongodb = []
            for member in replica_set.members:
                cable = cabling.lay(("127.0.0.1", member.port), read_reply)
                read_reply.know(member.port, cable.port)
                to_mongodb.append(cable)
            yield cls(cabling.lay(("127.0.0.1", nats.port)), tuple(to_mongodb))

    @property
    def settings(self) -> Mapping[str, str]:
        """Where a node finds what is at the cables' other ends."""
        return {
            "nats_url": f"nats://127.0.0.1:{self.nats.port}",
            "mongodb_uri": uri_of(*(cable.port for cable in self.mongodb)),
        }


class Node:
    """A server process on one port, started again whenever it ends.

    ``settings`` say where it finds MongoDB, and NATS, and ``cables`` are those that lead there.
    """

    def __init__(
        self,
        name: str,
        directory: Path,
        settings: Mapping[str, str],
        cables: NodeCables | None = None,
    ) -> None:
        self.name = name
        self.cables = cables
        self.server = ServerProcess(
            directory / name, port=str(free_port()), node_name=name, **{**_SETTINGS, **settings}
        )
        self.next_failpoints = ""
        self.process = SupervisedProcess(name, self._run)

    @property
    def is_awake(self) -> bool:
        """Whether it runs, and does not stand still."""
        return self.process.runs and not self.process.is_stopped

    @contextlib.contextmanager
    def _run(self) -> Iterator[Process]:
        failpoints, self.next_failpoints = self.next_failpoints, ""
        with self.server.run(failpoints=failpoints) as program:
            yield program.process
