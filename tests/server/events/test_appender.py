"""What is told last of a machine is true, and nothing is appended twice or in a lost place."""

import asyncio
import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from unittest.mock import patch
from uuid import UUID

import pytest
from pydantic import BaseModel

from schemas.resources.events import EventType, MachineRemoved
from server.errors import StoreError, StoreUnavailable
from server.events import shared_channel
from server.events.hub import ReadMachine
from server.store.event_log import EventLog, LoggedEvent
from tests.event_hubs import heard, names_of, publish, settled, several_nodes
from tests.store import ORGANIZATION
from tests.waiting import until


def reading(states: dict[str, int], machine_id: str) -> ReadMachine:
    """Reads a machine's state."""

    async def read() -> tuple[EventType, BaseModel]:
        state = states[machine_id]
        await asyncio.sleep(random.random() * 0.01)
        return "machine", MachineRemoved(id=str(state))

    return read


@pytest.mark.parametrize("is_bus_away", [False, True])
async def test_state_that_was_read_before_another_node_told_is_read_again(
    mongodb: str, database_name: str, is_bus_away: bool
) -> None:
    """One node reads s1, another changes it and tells s2: the first must not tell s1 after that."""
    state, is_read, goes_on = "s1", asyncio.Event(), asyncio.Event()

    async def slowly() -> tuple[EventType, BaseModel]:
        found = state
        is_read.set()
        await goes_on.wait()
        return "machine", MachineRemoved(id=found)

    async def quickly() -> tuple[EventType, BaseModel]:
        return "machine", MachineRemoved(id=state)

    async with several_nodes(mongodb, database_name, 2) as (first, second):
        subscription = await second.listen()
        if is_bus_away:
            first.bus.go_away()
        await first.hub.publish_machine(ORGANIZATION, "desk-1", slowly)
        await is_read.wait()
        state = "s2"
        await second.hub.publish_machine(ORGANIZATION, "desk-1", quickly)
        await settled(second.hub)
        goes_on.set()
        told = await heard(subscription, 2)
        assert [event.data for event in told] == [b'{"id":"s2"}', b'{"id":"s2"}']


async def test_another_machine_that_was_told_meanwhile_is_no_reason_to_read_again(
    mongodb: str, database_name: str
) -> None:
    reads, goes_on = 0, asyncio.Event()

    async def slowly() -> tuple[EventType, BaseModel]:
        nonlocal reads
        reads += 1
        await goes_on.wait()
        return "machine", MachineRemoved(id="desk-1")

    async with several_nodes(mongodb, database_name, 2) as (first, second):
        subscription = await second.listen()
        await first.hub.publish_machine(ORGANIZATION, "desk-1", slowly)
        await until(lambda: reads)
        publish(second.hub, "desk-2")
        await settled(second.hub)
        goes_on.set()
        assert names_of(await heard(subscription, 2)) == ["desk-2", "desk-1"]
        assert reads == 1


@pytest.mark.parametrize("seed", range(3))
async def test_last_that_is_told_of_each_machine_is_how_it_is(
    mongodb: str, database_name: str, seed: int
) -> None:
    """Whichever of three nodes tells, at the same time, with a bus that comes and goes."""
    chance, machines = random.Random(seed), ["a", "b", "c"]
    states = dict.fromkeys(machines, 0)
    async with several_nodes(mongodb, database_name, 3) as nodes:
        subscriptions = [await node.listen() for node in nodes]
        for _ in range(200):
            node, machine_id = chance.choice(nodes), chance.choice(machines)
            states[machine_id] += 1
            await node.hub.publish_machine(ORGANIZATION, machine_id, reading(states, machine_id))
            if chance.random() < 0.05:
                away = chance.choice(nodes).bus
                (away.go_away if away.is_connected else away.come_back)()
            await asyncio.sleep(chance.random() * 0.01)
        for node in nodes:
            await settled(node.hub)
        for node in nodes:
            node.bus.come_back()
        newest = await nodes[0].log.newest(ORGANIZATION)
        for subscription in subscriptions:
            told = await heard(subscription, newest)
            last = {event.machine_id: event.data for event in told}
            assert last == {each: b'{"id":"%d"}' % states[each] for each in machines}


async def test_machine_that_changes_often_before_its_turn_is_read_once(
    mongodb: str, database_name: str
) -> None:
    states = {"a": 0}
    async with several_nodes(mongodb, database_name, 1) as (node,):
        subscription = await node.listen()
        for _ in range(100):
            states["a"] += 1
            await node.hub.publish_machine(ORGANIZATION, "a", reading(states, "a"))
        await settled(node.hub)
        assert [event.data for event in subscription.take(10)] == [b'{"id":"100"}']


async def test_machine_that_cannot_be_read_is_left_out_and_the_others_are_told(
    mongodb: str, database_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    tries = 0

    async def away_at_first() -> tuple[EventType, BaseModel]:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise StoreUnavailable("The database does not answer.")
        return "machine", MachineRemoved(id="b")

    async def broken() -> tuple[EventType, BaseModel]:
        raise ZeroDivisionError

    async with several_nodes(mongodb, database_name, 1) as (node,):
        subscription = await node.listen()
        await node.hub.publish_machine(ORGANIZATION, "a", broken)
        await node.hub.publish_machine(ORGANIZATION, "b", away_at_first)
        publish(node.hub, "c")
        assert names_of(await heard(subscription, 2)) == ["b", "c"]
        assert node.hub._room.free == 20_000
    assert [each for each in caplog.messages if "machine=a a change could not be told" in each]


class ForgetfulLog(EventLog):
    """Appends, and says of the first few times that nobody knows."""

    silent = 2
    error: StoreError = StoreUnavailable("The database did not answer in time.")

    async def append(
        self, organization_id: UUID, number: int, attempt: bytes, events: Sequence[LoggedEvent]
    ) -> None:
        """Append, or not, and perhaps do not say so."""
        if self.silent != 2:
            await super().append(organization_id, number, attempt, events)
        if self.silent:
            self.silent -= 1
            raise self.error


async def test_batch_is_appended_once_where_nobody_knows_whether_it_was(
    mongodb: str, database_name: str
) -> None:
    """The first try is lost on its way there, the answer of the second on its way back."""
    async with several_nodes(mongodb, database_name, 2) as (first, second):
        subscription = await second.listen()
        first.hub._appender._log = ForgetfulLog(first.database)
        publish(first.hub, "a", "b")
        publish(first.hub, "c")
        assert names_of(await heard(subscription, 3)) == ["a", "b", "c"]
        await settled(first.hub)
        assert await second.log.newest(ORGANIZATION) == 3


async def test_batch_in_a_place_that_was_used_and_deleted_is_told_as_reset(
    mongodb: str, database_name: str
) -> None:
    """A node slept for minutes; meanwhile the log has moved on, and was trimmed."""
    async with several_nodes(mongodb, database_name, 2, history=3) as (sleeper, other):
        publish(sleeper.hub, "a")
        await settled(sleeper.hub)
        sleeper.bus.go_away()
        for name in "bcdefg":
            publish(other.hub, name)
            await settled(other.hub)
        await other.database.collection("events").delete_many(
            {"_id": {"$lt": ORGANIZATION.bytes + (5).to_bytes(8)}}
        )
        subscription = await other.listen()
        # It looked a moment ago, as it believes, and by the time of the answer knows better.
        with (
            patch.object(shared_channel.SharedChannel, "is_fresh", property(_fresh_at_first())),
            patch("server.events.shared_hub.CONNECTED_POLL_SECONDS", 0.1),
        ):
            publish(sleeper.hub, "lost")
            (told,) = await heard(subscription, 1)
            assert told.type == "reset"
            publish(sleeper.hub, "h")
            assert names_of(await heard(subscription, 1)) == ["h"]


def _fresh_at_first() -> Callable[[shared_channel.SharedChannel], bool]:
    answers = iter([True])
    return lambda _: next(answers, False)


async def test_log_is_trimmed_as_it_grows(mongodb: str, database_name: str) -> None:
    with (
        patch("server.events.appender.TRIM_SECONDS", 0.0),
        patch("server.store.event_log.LATE_INSERT", timedelta(0)),
        patch("server.store.event_log.MAX_BATCH_EVENTS", 1),
    ):
        async with several_nodes(mongodb, database_name, 1, history=5) as (node,):
            for number in range(20):
                publish(node.hub, str(number))
                await settled(node.hub)
            appending = node.hub._channels[ORGANIZATION].appending
            assert appending is not None
            await appending
            numbers = [batch.number for batch in await node.log.since(ORGANIZATION, 0)]
            assert numbers == [16, 17, 18, 19, 20]
