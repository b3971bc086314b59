"""Looks at a screen and into a clipboard: in which stretches they are."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from server.dispatch import looks as module
from server.dispatch import stretches
from server.dispatch.command import Sender
from server.dispatch.looks import LookedAt, Looks
from server.dispatch.stretches import StretchRecorder
from server.store.audit import AuditEntry, AuditStore
from server.tasks import Tasks
from tests.clock import Clock
from tests.events import listening
from tests.nodes import until_reached
from tests.screens import Desk
from tests.server.api.looks.test_looking import (
    clock_of_stretches,
    entries,
    screenshot,
    seen,
    text_read,
    until_noted,
)
from tests.service import Service, until
from tests.store import ORGANIZATION

SCREEN, CLIPBOARD, ELEMENTS = LookedAt
BEGAN = datetime(2026, 11, 23, 9, tzinfo=UTC)
IN = ", in less than a second"


def sender(number: int = 5) -> Sender:
    token_id = UUID(int=number)
    return Sender(
        organization_id=ORGANIZATION, token_id=token_id, token_name="anna", request_id="r"
    )


class Kept(AuditStore):
    """Keeps what it is given last of each entry."""

    def __init__(self) -> None:
        self.entries: dict[bytes, AuditEntry] = {}

    async def put_stretches(self, entries: Sequence[AuditEntry]) -> None:
        self.entries |= {entry.id: entry for entry in entries}

    @property
    def notes(self) -> list[str | None]:
        return [entry.note for entry in self.entries.values()]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(stretches, "GATHER_SECONDS", 0.01)
    monkeypatch.setattr(stretches, "now", lambda: BEGAN)
    return clock_of_stretches(monkeypatch)


@pytest.fixture
def kept() -> Kept:
    return Kept()


async def test_looks_with_little_between_are_one_stretch_of_each_kind(
    kept: Kept, clock: Clock
) -> None:
    looks = Looks(StretchRecorder(kept, Tasks()))
    for _ in range(30):
        looks.looked(sender(), "desk-1", SCREEN)
        clock.now += 59
    looks.looked(sender(), "desk-1", CLIPBOARD)
    looks.looked(sender(), "desk-2", SCREEN)
    looks.looked(sender(6), "desk-1", SCREEN)
    looks.close()
    await until(lambda: len(kept.entries) == 4)
    assert [(e.action, e.machine_id, e.token_id) for e in kept.entries.values()] == [
        ("screen.seen", "desk-1", UUID(int=5)),
        ("clipboard.read", "desk-1", UUID(int=5)),
        ("screen.seen", "desk-2", UUID(int=5)),
        ("screen.seen", "desk-1", UUID(int=6)),
    ]
    assert kept.notes == [f"30 pictures{IN}", f"1 reading{IN}", *[f"1 picture{IN}"] * 2]


async def test_a_minute_without_a_look_ends_a_stretch_and_so_does_an_hour(
    kept: Kept, clock: Clock
) -> None:
    looks = Looks(StretchRecorder(kept, Tasks()))
    looks.looked(sender(), "desk-1", SCREEN)
    clock.now += 60
    for _ in range(60):
        looks.looked(sender(), "desk-1", SCREEN)
        clock.now += 59.9
    # This is the 60th minute since the second began, and so belongs to it.
    looks.looked(sender(), "desk-1", SCREEN)
    clock.now += 10
    looks.looked(sender(), "desk-1", SCREEN)
    await until(lambda: len(kept.entries) == 3)
    so_far = f"1 picture so far{IN}"
    assert kept.notes == [f"1 picture{IN}", f"61 pictures{IN}", so_far]


async def test_stretch_ends_by_itself_where_nobody_looks_any_more(
    kept: Kept, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHECK_SECONDS", 0.01)
    background = Tasks()
    looks = Looks(StretchRecorder(kept, background))
    running = background.supervise(looks.run, "end stretches")
    try:
        looks.looked(sender(), "desk-1", SCREEN)
        looks.looked(sender(), "desk-1", CLIPBOARD)
        clock.now += 59
        looks.still_looks(sender(), "desk-1", SCREEN)
        looks.still_looks(sender(), "desk-2", SCREEN)
        clock.now += 1
        expected = [f"1 picture so far{IN}", f"1 reading{IN}"]
        await until(lambda: kept.notes == expected)
        clock.now += 59
        await until(lambda: kept.notes == [f"1 picture{IN}", f"1 reading{IN}"])
    finally:
        running.cancel()


async def test_one_stretch_too_many_ends_that_in_which_nobody_has_looked_for_longest(
    kept: Kept, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_OPEN", 2)
    looks = Looks(StretchRecorder(kept, Tasks()))
    for number in (1, 2, 1, 3):
        looks.looked(sender(number), "desk-1", SCREEN)
    await until(lambda: len(kept.entries) == 3)
    assert kept.notes == [f"2 pictures so far{IN}", f"1 picture{IN}", f"1 picture so far{IN}"]


async def test_looks_through_another_node_are_one_entry_that_is_told_on_each(
    nodes: list[Service],
) -> None:
    here, there = nodes
    async with (
        here.joined(seen()) as (machine, link),
        listening(here, "?types=audit") as stream,
    ):
        await until_reached(there, machine)
        desk = Desk(there, replace(machine, service=there), link)
        for _ in range(2):
            await text_read(there, link, "a")
        for _ in range(2):
            await screenshot(desk)
        found = await until_noted(here, lambda notes: len(notes) == 2)
        # Each node would have written its own by now.
        await asyncio.sleep(3 * stretches.GATHER_SECONDS)
        assert await entries(here) == found
        assert [each["action"] for each in found] == ["screen.seen", "clipboard.read"]
        assert [(await stream.next()).data for _ in range(2)] == found[::-1]
