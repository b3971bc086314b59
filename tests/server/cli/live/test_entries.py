"""Which entries are shown while the audit is followed."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from server.cli.live import entries as module
from server.cli.live.entries import Followed, entry_of
from server.dispatch.command import Sender
from server.dispatch.hand.segment import Segment
from tests.events import listening
from tests.service import PATIENCE_SECONDS, Service


def entry(number: int = 1, note: str | None = None, **fields: Any) -> dict[str, Any]:
    """An entry as it is listed, as far as it matters here."""
    return {
        "id": str(number),
        "created_at": "2026-11-21T09:30:00.120Z",
        "action": "machine.paused",
        "token_id": "t",
        "token_name": "anna",
        "machine_id": "desk-1",
        "note": note,
        "command": None,
        **fields,
    }


def shown_of(query: dict[str, str], *told: dict[str, Any]) -> list[dict[str, Any]]:
    """What is shown of the events that tell these entries."""
    shown: list[dict[str, Any]] = []
    followed = Followed(query, shown.append)
    for each in told:
        followed.heard("audit", each)
    return shown


def test_listed_entries_are_shown_the_newest_last_and_each_once() -> None:
    shown: list[dict[str, Any]] = []
    followed = Followed({}, shown.append)
    followed.read([entry(2), entry(1)])
    followed.heard("audit", entry(2))
    followed.heard("audit", entry(3))
    # As after the connection was lost.
    followed.read([entry(4), entry(3), entry(2), entry(1)])
    assert [each["id"] for each in shown] == ["1", "2", "3", "4"]


def test_stretch_is_shown_again_when_it_says_something_new() -> None:
    begun, ended = entry(note="1 picture so far"), entry(note="9 pictures")
    assert shown_of({}, begun, begun, ended, ended) == [begun, ended]


def test_as_many_as_are_known_are_not_shown_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KNOWN", 2)
    told = [entry(number) for number in (1, 2, 1, 3, 1, 2)]
    assert [each["id"] for each in shown_of({}, *told)] == ["1", "2", "3", "2"]


@pytest.mark.parametrize(
    ("query", "fits"),
    [
        ({}, True),
        ({"machine_id": "desk-1"}, True),
        ({"machine_id": "desk-2"}, False),
        ({"token_id": "t"}, True),
        ({"token_id": "u"}, False),
        ({"token_name": "anna"}, True),
        ({"token_name": "ann"}, False),
        ({"action": "machine"}, True),
        ({"action": "machine.paused"}, True),
        ({"action": "mach"}, False),
        ({"action": "machine.paused.twice"}, False),
        ({"created_at_from": "2026-11-21T09:30:00.120Z"}, True),
        ({"created_at_from": "2026-11-21T09:30:00.121Z"}, False),
    ],
)
def test_what_is_told_is_shown_where_it_fits(query: dict[str, str], fits: bool) -> None:
    assert bool(shown_of(query, entry())) is fits


async def test_input_that_is_told_is_the_entry_that_is_listed(service: Service) -> None:
    async with service.joined() as (machine, link), listening(service, "?types=command") as stream:
        await link.obeys(machine.moving())
        told = (await stream.next()).data
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (listed := (await service.get("/v1/audit")).json["items"]):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    made = entry_of(told)
    made["command"] = {name: made["command"][name] for name in listed[0]["command"]}
    assert [{**made, "request_id": listed[0]["request_id"]}] == listed
    shown: list[Any] = []
    followed = Followed({}, shown.append)
    followed.heard("command", told)
    followed.read(listed)
    assert [each["action"] for each in shown] == ["input.mouse.move"]


async def test_work_by_hand_that_is_told_is_the_entry_that_is_listed(service: Service) -> None:
    await service.new_machine()
    sender = Sender(
        organization_id=service.organization_id,
        token_id=UUID(int=5),
        token_name="anna",
        request_id="r-1",
        in_segment=True,
    )
    segment = Segment(clicks=2)
    async with listening(service, "?types=command") as stream:
        stretch = service.server.services.machines.stretches.begin(
            *(sender, "desk-1", "control.worked", segment.in_words), became=segment.became
        )
        await stream.next()
        service.server.services.machines.stretches.end(stretch)
        made = entry_of((await stream.next()).data)
    (listed,) = (await service.get("/v1/audit")).json["items"]
    made["command"] = {name: made["command"][name] for name in listed["command"]}
    assert {**made, "request_id": "r-1"} == listed
