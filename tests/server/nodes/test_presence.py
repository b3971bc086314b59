"""Which nodes are alive, as each of them sees it in a real database."""

import pytest

from server.errors import StoreUnavailable
from server.nodes.presence import BEAT_SECONDS, GONE_SECONDS, RETURN_SECONDS, Presence
from server.process.node import Node
from server.store.mongodb.database import Database
from server.store.presence import NodeRecord, NodeStore


class Watched:
    """A node with a clock of its own, and what it was told."""

    def __init__(self, database: Database, name: str, group: str | None = None) -> None:
        self.time = 0.0
        self.gone: list[str] = []
        self.missed = 0
        self.store = NodeStore(database)
        self.presence = Presence(
            Node.new(name, group),
            self.store,
            on_gone=self._gone,
            on_missed=self._missed,
            clock=lambda: self.time,
        )

    async def beat(self, seconds: float = BEAT_SECONDS) -> None:
        """Let time pass, and say each second that it is alive."""
        while seconds > 0:
            self.time += min(seconds, BEAT_SECONDS)
            seconds -= BEAT_SECONDS
            await self.presence.beat()

    async def _gone(self, node: NodeRecord) -> None:
        self.gone.append(node.name)

    def _missed(self) -> None:
        self.missed += 1

    @property
    def others(self) -> list[str]:
        """The names of those that it sees."""
        return [each.name for each in self.presence.others]


async def two_of(database: Database) -> tuple[Watched, Watched]:
    """Two nodes, ``a`` and ``b``, of which the first has seen the second."""
    here, there = Watched(database, "a"), Watched(database, "b")
    for node in (there, here):
        await node.beat()
    return here, there


async def test_node_that_says_no_more_that_it_is_alive_is_gone_for_the_others(
    database: Database,
) -> None:
    here, there, silent = (Watched(database, name) for name in ("a", "b", "c"))
    for node in (here, there, silent, here):
        await node.beat()
    assert here.others == ["b", "c"]
    assert here.presence.is_alive(silent.presence.node.node_id)
    for _ in range(int(GONE_SECONDS)):
        await there.beat()
        await here.beat()
    assert (here.others, here.gone, here.presence.lost) == (["b"], ["c"], 1)
    assert not here.presence.is_alive(silent.presence.node.node_id)
    # The first to find it out tells of it; the next sees it no more.
    await there.beat()
    assert (there.others, there.gone) == (["a"], [])
    assert silent.missed == 0
    await silent.beat()
    assert silent.missed == 1
    await here.beat()
    assert here.others == ["b", "c"]


async def test_nobody_is_gone_because_the_database_did_not_answer(database: Database) -> None:
    here, there = await two_of(database)
    # The next number of this node waits for the database, and is there before the other's.
    here.time += 10 * GONE_SECONDS
    await here.beat()
    # The other is given its whole time again, and the time that a driver takes to return.
    await here.beat(RETURN_SECONDS + GONE_SECONDS - BEAT_SECONDS)
    assert (here.others, here.gone) == (["b"], [])
    await there.beat()
    await here.beat()
    await here.beat(GONE_SECONDS - BEAT_SECONDS)
    assert here.gone == []
    await here.beat()
    assert here.gone == ["b"]


async def test_node_that_stood_still_while_it_looked_takes_nobody_for_gone(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = await two_of(database)

    async def late() -> list[NodeRecord]:
        records = await NodeStore(database).list()
        here.time += 10 * GONE_SECONDS
        return records

    monkeypatch.setattr(here.store, "list", late)
    await here.beat()
    assert (here.others, here.gone) == (["b"], [])


async def test_node_that_wakes_while_it_is_said_to_be_gone_learns_of_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = await two_of(database)
    tell = here._gone

    async def tell_slowly(node: NodeRecord) -> None:
        await tell(node)
        await there.beat()
        assert there.missed == 0

    monkeypatch.setattr(here.presence, "_on_gone", tell_slowly)
    await here.beat(GONE_SECONDS)
    assert here.gone == ["b"]
    await there.beat()
    assert there.missed == 1


async def test_what_the_database_did_not_take_is_done_with_the_next_beat(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = await two_of(database)
    tell = here._gone

    async def fail_once(node: NodeRecord) -> None:
        await tell(node)
        if len(here.gone) == 1:
            raise StoreUnavailable("not now")

    monkeypatch.setattr(here.presence, "_on_gone", fail_once)
    with pytest.raises(StoreUnavailable):
        await here.beat(GONE_SECONDS)
    # It says meanwhile that it is alive, and is told of what is noted of it all the same.
    await there.beat()
    await here.beat()
    await here.beat()
    assert here.gone == ["b", "b"]
    assert there.missed == 0
    await there.beat()
    assert there.missed == 1


async def test_node_that_leaves_is_not_gone_but_away(database: Database) -> None:
    here, there = await two_of(database)
    await there.presence.leave()
    await here.beat(GONE_SECONDS)
    assert (here.others, here.gone) == ([], [])


async def test_peers_are_the_nodes_of_one_parent(database: Database) -> None:
    nodes = [Watched(database, name, group) for name, group in (("a", "g"), ("b", "g"))]
    nodes += [Watched(database, "c"), Watched(database, "d", "h")]
    for node in (*nodes, *nodes):
        await node.beat()
    assert [[each.name for each in node.presence.peers] for node in nodes] == [
        ["b"],
        ["a"],
        [],
        [],
    ]


async def test_two_nodes_of_one_name_are_told_once(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    one, other, dead = (Watched(database, "same") for _ in range(3))
    # One that was killed has left its record: it does not count up.
    for node in (dead, one, one):
        await node.beat()
    assert caplog.text == ""
    for node in (other, one, other, one, other, one):
        await node.beat()
    assert caplog.text.count("is the name of another node that is alive, too") == 2
    assert (one.gone, one.missed) == (["same"], 0)
