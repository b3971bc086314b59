"""What waits: in its order, each machine once, and never more than may."""

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from schemas.resources.events import EventType, MachineRemoved
from server.events.outbox import MAX_BATCH_BYTES, MAX_BATCH_READS, Outbox, Room
from server.store.event_log import MAX_BATCH_EVENTS


async def never() -> tuple[EventType, BaseModel]:
    """Is not called here."""
    raise AssertionError


def add(outbox: Outbox, name: str) -> None:
    """Let an event wait."""
    outbox.add("machine_removed", MachineRemoved(id=name), name)


def test_batch_is_bounded_by_number_by_reads_and_by_size() -> None:
    room = Room(10_000)
    many, machines, large = (Outbox(1000, room) for _ in range(3))
    for number in range(MAX_BATCH_EVENTS + 1):
        add(many, str(number))
    for number in range(MAX_BATCH_READS + 5):
        machines.add_machine(str(number), never)
    for _ in range(5):
        add(large, "x" * (MAX_BATCH_BYTES // 2))
    assert len(many.begin()) == MAX_BATCH_EVENTS
    assert len(machines.begin()) == MAX_BATCH_READS
    assert len(large.begin()) == 2
    large.end()
    assert len(large.begin()) == 2
    assert room.free == 10_000 - (MAX_BATCH_EVENTS + 1) - (MAX_BATCH_READS + 5) - 3


def test_machine_waits_once_until_it_is_its_turn() -> None:
    outbox = Outbox(10, Room(10))
    outbox.add_machine("a", never)
    outbox.add_machine("a", never)
    (first,) = outbox.begin()
    outbox.add_machine("a", never)
    outbox.add_machine("a", never)
    assert [entry is first for entry in outbox.begin()] == [True, False]
    outbox.drop(first)
    outbox.end()
    assert len(outbox) == 0


STEPS = st.lists(st.sampled_from(["add", "machine", "begin", "end", "lose"]), max_size=60)


@given(STEPS)
def test_it_is_bounded_and_tells_everything_or_a_reset(steps: list[str]) -> None:
    room = Room(8)
    outbox = Outbox(5, room)
    told: list[str | None] = []
    expected: list[str | None] = []
    for number, step in enumerate(steps):
        before = len(outbox)
        if step == "add":
            add(outbox, str(number))
            expected.append(str(number))
        elif step == "machine":
            outbox.add_machine(f"m{number}", never)
            expected.append(f"m{number}")
        elif step == "lose":
            outbox.lose()
        elif step == "begin":
            outbox.begin()
        else:
            told += [entry.machine_id for entry in list(outbox._entries)[: outbox._under_way]]
            outbox.end()
        assert len(outbox) <= max(before, 10)
        assert room.free == 8 - len(outbox)
    outbox.begin()
    told += [entry.machine_id for entry in outbox._entries]
    if None not in told:
        assert told == expected
    else:
        # What came after the last reset is whole, and so is the order of all.
        last = len(told) - told[::-1].index(None)
        assert told[last:] == expected[len(expected) - len(told[last:]) :]
        names = [name for name in told if name is not None]
        assert names == [name for name in expected if name in names]
