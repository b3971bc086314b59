"""Several nodes whose MongoDB does not answer for a while: a real one, which is stopped."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from server.errors import StoreUnavailable
from server.store.embedded_mongod import EmbeddedMongoDB
from tests.event_hubs import Node, everything, heard, names_of, publish, several_nodes
from tests.processes import go_on, stop
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, there
from tests.waiting import until


@asynccontextmanager
async def own_mongodb(directory: Path) -> AsyncIterator[EmbeddedMongoDB]:
    """A mongod that the test may stop."""
    embedded = EmbeddedMongoDB(directory)
    try:
        await embedded.start()
        yield embedded
    finally:
        await embedded.stop()


@contextmanager
def stopped(embedded: EmbeddedMongoDB, *nodes: Node) -> Iterator[None]:
    """Let mongod stand still meanwhile, and the nodes wait for it for no longer than needed."""
    pid = there(embedded.pid)
    stop(pid)
    with pytest.MonkeyPatch.context() as patch:
        for node in nodes:
            patch.setattr(node.database, "_timeout", 1.0)
        try:
            yield
        finally:
            go_on(pid)


async def until_one_has_failed(node: Node) -> None:
    """Wait for the first operation that MongoDB does not answer."""
    failed = node.database.failures
    await until(lambda: node.database.failures > failed)


async def test_events_wait_while_the_database_is_away_and_too_many_become_a_reset(
    tmp_path: Path,
) -> None:
    async with (
        own_mongodb(tmp_path / "mongodb") as embedded,
        several_nodes(embedded._uri(), "farhand", 3, outbox=10) as (first, second, third),
    ):
        subscription = await second.listen()
        publish(first.hub, "before")
        (told,) = await heard(subscription, 1)
        with stopped(embedded, first, second, third):
            publish(first.hub, "a")
            await until_one_has_failed(first)
            publish(first.hub, *(str(number) for number in range(11)))
            publish(first.hub, "later")
            publish(third.hub, "c")

            # Who listens here knows where the others are, and nobody knows it elsewhere.
            late = await second.listen(subscription.id_of(told.number - 1))
            assert names_of(late.take(10)) == ["before"]
            with pytest.raises(StoreUnavailable):
                await second.hub.subscribe(OTHER_ORGANIZATION, None, everything)

        for each in (subscription, late):
            events = await heard(each, 4)
            of_first = [event for event in events if event.machine_id != "c"]
            # The first was on its way already, and nobody knew whether it had arrived.
            assert [event.machine_id for event in of_first] == ["a", None, "later"]
            assert of_first[1].type == "reset"
        assert await first.log.newest(ORGANIZATION) == 5


async def test_node_that_ends_while_the_database_is_away_does_not_wait_for_ever(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        own_mongodb(tmp_path / "mongodb") as embedded,
        several_nodes(embedded._uri(), "farhand", 1) as (node,),
    ):
        with stopped(embedded, node):
            publish(node.hub, "a", "b")
            await node.hub.finish(0.1)
            assert "2 events could not be told" in caplog.messages
            publish(node.hub, "c")
            assert node.hub.waiting == 2
