"""Which nodes are alive.

Each node counts a number up in the database every second and looks at those of the others.  One
whose number stands still for three seconds of this node's own clock is gone.  So no two clocks are
compared.  Time in which this node could not count its own number up does not count: what kept it
from that may keep the others from it a little longer.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from server.errors import StoreUnavailable
from server.process.node import Node
from server.store.presence import NodeRecord, NodeStore

logger = logging.getLogger(__name__)

BEAT_SECONDS: Final = 1.0
GONE_SECONDS: Final = 3.0
HELD_UP_SECONDS: Final = 2 * BEAT_SECONDS
"""This node's own numbers have to be further apart for it to know that something kept it."""
RETURN_SECONDS: Final = 2.0
"""The others are given so much longer then: drivers do not find a database again all at once."""


@dataclass
class _Seen:
    record: NodeRecord
    since: float


class Presence:
    """Keeps this node among the living, and finds out who is not any more."""

    def __init__(
        self,
        node: Node,
        nodes: NodeStore,
        *,
        on_gone: Callable[[NodeRecord], Awaitable[None]],
        on_missed: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.node = node
        self._nodes = nodes
        self._on_gone = on_gone
        self._on_missed = on_missed
        self._clock = clock
        self._seen: dict[UUID, _Seen] = {}
        self._gone: dict[UUID, NodeRecord] = {}
        self._beat_at: float | None = None
        self._has_warned = False
        self.lost = 0

    @property
    def others(self) -> list[NodeRecord]:
        """The other nodes that are alive, as far as this one knows."""
        return [each.record for each in self._seen.values()]

    @property
    def peers(self) -> list[NodeRecord]:
        """Those of them that have the same parent."""
        group = self.node.group
        return [each for each in self.others if group is not None and each.group == group]

    def is_alive(self, node_id: UUID) -> bool:
        """Whether another node is among the living."""
        return node_id in self._seen

    async def run(self) -> None:
        """Say that this node is alive and look at the others, for ever."""
        while True:
            began_at = self._clock()
            try:
                await self.beat()
            except StoreUnavailable as error:
                logger.warning("node=%s cannot say that it is alive: %s", self.node.name, error)
            await asyncio.sleep(max(BEAT_SECONDS - (self._clock() - began_at), 0.05))

    async def beat(self) -> None:
        """Say once that this node is alive, and look once at the others.

        Raises StoreUnavailable.
        """
        was_known = await self._nodes.beat(self.node.node_id, self.node.name, self.node.group)
        beat_before, self._beat_at = self._beat_at, self._clock()
        if beat_before is not None:
            if not was_known:
                logger.warning("node=%s was taken for gone, and is not", self.node.name)
                self._on_missed()
            if self._beat_at - beat_before > HELD_UP_SECONDS:
                self._look_anew()
        asked_at = self._clock()
        for record in self._look(await self._nodes.list(), asked_at):
            logger.warning("node=%s is gone", record.name)
            self.lost += 1
            self._gone[record.node_id] = record
        for record in tuple(self._gone.values()):
            await self._on_gone(record)
            # Also one that has just said that it is alive: only so it learns that it was missed.
            await self._nodes.forget(record.node_id)
            del self._gone[record.node_id]

    async def leave(self) -> None:
        """This node ends, and holds no link any more."""
        await self._nodes.forget(self.node.node_id)

    def _look(self, records: list[NodeRecord], asked_at: float) -> list[NodeRecord]:
        """Note how the others are; those that are gone.

        What was read is as old as the question: this node may have stood still since.
        """
        moment, gone, seen = self._clock(), [], {}
        for record in records:
            if record.node_id == self.node.node_id:
                continue
            before = self._seen.get(record.node_id)
            if before is None or before.record.beats != record.beats:
                if before is not None:
                    self._compare_names(record)
                before = _Seen(record, moment)
            if asked_at - before.since >= GONE_SECONDS:
                gone.append(record)
            else:
                seen[record.node_id] = before
        self._seen = seen
        return gone

    def _compare_names(self, other: NodeRecord) -> None:
        """Say it once, if another node that lives cannot be told from this one."""
        if other.name == self.node.name and not self._has_warned:
            self._has_warned = True
            words = "node=%s is the name of another node that is alive, too: give each its own"
            logger.warning(words, other.name)

    def _look_anew(self) -> None:
        """Give each of the others its time again, and the time to find the database."""
        for seen in self._seen.values():
            seen.since = self._clock() + RETURN_SECONDS
