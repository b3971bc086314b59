"""What can be done to several nodes, and to what is between them."""

import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tests.faults.cabling import Cable
from tests.faults.fault_injector import (
    RESTART_SECONDS,
    STOP_SECONDS,
    FaultInjector,
    require,
)
from tests.faults.node import Nats, Node

Peer = Literal["NATS", "MongoDB"]

CUT_SECONDS = (0.5, 5.0)
"""Presence takes a node for gone after three seconds."""

DRAIN_SECONDS = 20.0

GONE_SECONDS = (4.0, 8.0)
"""Long enough for the others to find a node gone, and to have its machines."""


@dataclass(frozen=True)
class SeveralNodes:
    """Injects one fault, and has it noted by the injector of all others."""

    injector: FaultInjector

    def put_to_sleep(self, node: Node) -> None:
        """Have a node stand still until the others have its machines, and wake up late."""
        with self.injector.record("server asleep, taken for gone, woken", node.name):
            require(node.process.signal(signal.SIGSTOP))
            time.sleep(self.injector.seconds(GONE_SECONDS))
            node.process.signal(signal.SIGCONT)

    def drain(self, node: Node) -> None:
        """Have a node end in order, as in a rolling restart, and start it again."""
        process = node.process
        starts, ends = process.starts, len(process.exit_codes)
        with self.injector.record("server drained", node.name):
            require(process.signal(signal.SIGTERM))
            if not process.wait_for_end(ends + 1, DRAIN_SECONDS):
                # Another fault keeps it: a service manager's patience ends as well.
                require(process.kill())
            require(process.wait_for_start(starts + 1, RESTART_SECONDS))

    def kill_nats(self) -> None:
        process = self._nats.process
        starts = process.starts
        with self.injector.record("NATS killed", "nats"):
            process.disable_restart()
            require(process.kill())
            time.sleep(self.injector.seconds(CUT_SECONDS))
            process.enable_restart()
            require(process.wait_for_start(starts + 1, RESTART_SECONDS))

    def stop_nats(self) -> None:
        process = self._nats.process
        with self.injector.record("NATS stopped", "nats"):
            require(process.signal(signal.SIGSTOP))
            time.sleep(self.injector.seconds(STOP_SECONDS))
            process.signal(signal.SIGCONT)

    def cut(self, node: Node, what: Peer) -> None:
        """Reset a node's connections to NATS or MongoDB, and let it make none for a while."""
        cables = _cables(node, what)
        with self.injector.record(f"{what} cut off from a server", node.name):
            for cable in cables:
                cable.cut()
            self._mend_later(cables)

    def hold(self, node: Node, what: Peer) -> None:
        """Carry nothing between a node and NATS or MongoDB, and all of it after a while."""
        cables = _cables(node, what)
        with self.injector.record(f"{what} held up for a server", node.name):
            for cable in cables:
                cable.hold()
            self._mend_later(cables)

    def _mend_later(self, cables: Sequence[Cable]) -> None:
        time.sleep(self.injector.seconds(CUT_SECONDS))
        for cable in cables:
            cable.mend()

    @property
    def _nats(self) -> Nats:
        nats = self.injector.world.nats
        assert nats is not None
        return nats


def _cables(node: Node, what: Peer) -> Sequence[Cable]:
    assert node.cables is not None
    return (node.cables.nats,) if what == "NATS" else node.cables.mongodb
