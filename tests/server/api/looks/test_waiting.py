"""Waits for a machine's screen over HTTP, with a machine that the test plays."""

import asyncio
import json
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from schemas.http.queries import PageQuery
from schemas.inputs.waits import Changed, Still
from schemas.link.messages import Look, LookStop, RequestFailed, Screenshot, Seen
from schemas.link.picture_frames import PictureKind
from schemas.resources.tokens import ADMINISTRATOR_SCOPES, Scope
from schemas.values.pictures import Region
from server.api.looks import waiting
from server.api.looks.waiting import WaitHandler
from server.dispatch.here import waits
from server.machines import screens
from tests.pictures import picture
from tests.screens import Desk, connected, counted_questions
from tests.service import Reply, Service, until
from tests.store import entered

WAIT = "/v1/computer/desk-1/wait"
STILL: dict[str, Any] = {"any": [{"still": 0.5}], "timeout": 60}


@pytest.fixture
def desk(io_loop: IOLoop, service: Service) -> Iterator[Desk]:
    with entered(io_loop, connected(service)) as desk:
        yield desk


def waiting_for(service: Service, body: Any = STILL, **options: Any) -> "asyncio.Task[Reply]":
    background = service.server.services.background
    return background.start(service.post(WAIT, body, **options), "a client of the test")


async def sees(desk: Desk, look: Look, matched: int | None, at: Region | None = None) -> None:
    await desk.link.say(Seen(request=look.request, matched=matched, at=at, elapsed=0.71234))


async def test_wait_is_what_the_machine_has_seen(service: Service, desk: Desk) -> None:
    body = {
        "any": [
            {"still": 2, "region": {"x": 1, "y": 2, "width": 3, "height": 4}},
            {"changed": True, "ignore": [{"x": 5, "y": 6, "width": 7, "height": 8}]},
        ],
        "timeout": 120,
    }
    asking = waiting_for(service, body)
    look = await desk.heard(Look)
    still, changed = look.any
    assert isinstance(still, Still)
    assert isinstance(changed, Changed)
    assert (look.timeout, still.still, changed.ignore[0].height) == (120, 2, 8)
    await sees(desk, look, 1, Region(10, 20, 30, 40))
    reply = await asking
    assert (reply.status, reply.json) == (
        200,
        {
            "matched": 1,
            "at": {"x": 10, "y": 20, "width": 30, "height": 40},
            "elapsed": 0.712,
            "seen": [],
            "screenshot": None,
        },
    )


async def test_time_that_is_over_is_no_error(service: Service, desk: Desk) -> None:
    asking = waiting_for(service)
    await sees(desk, await desk.heard(Look), None)
    reply = await asking
    assert (reply.status, reply.json["matched"], reply.json["at"]) == (200, None, None)


async def test_picture_comes_with_the_end_of_the_wait(service: Service, desk: Desk) -> None:
    asking = waiting_for(service, {**STILL, "screenshot": {"format": "webp", "width": 64}})
    await sees(desk, await desk.heard(Look), 0)
    shot = await desk.heard(Screenshot)
    assert (shot.format, shot.width) == ("webp", 64)
    content = picture("webp")
    await desk.shows(content, kind=PictureKind.SCREENSHOT, number=shot.request, form="webp")
    shown = (await asking).json["screenshot"]
    assert (shown["format"], shown["width"], shown["height"]) == ("webp", 64, 40)
    assert b64decode(shown["content"]) == content


async def test_picture_that_there_is_none_of_says_why(service: Service, desk: Desk) -> None:
    asking = waiting_for(service, {**STILL, "screenshot": {"display": 7}})
    await sees(desk, await desk.heard(Look), 0)
    shot = await desk.heard(Screenshot)
    failed = RequestFailed(
        request=shot.request,
        reason="there is no display 7",
        code="display_unknown",
        field="display",
    )
    await desk.link.say(failed)
    reply = await asking
    assert (reply.status, reply.json["screenshot"]) == (200, {"left_out": "there is no display 7"})


@pytest.mark.parametrize(
    ("body", "loc", "kind"),
    [
        ({}, ["any"], "missing"),
        ({"any": []}, ["any"], "number_of_conditions"),
        ({"any": [{"still": 1}] * 9}, ["any"], "number_of_conditions"),
        ({"any": [{"gone": True}]}, ["any", "0"], "condition_unknown"),
        ({"any": [{"text": "x"}]}, ["any", "0", "text"], "text_too_short"),
        ({"any": [{"text": " "}]}, ["any", "0", "text"], "text_unreadable"),
        ({"any": [{"text": "two\nlines"}]}, ["any", "0", "text"], "text_unreadable"),
        ({"any": [{"picture": "no picture"}]}, ["any", "0", "picture"], "picture_invalid"),
        ({"any": [{"picture": "0" * 64}]}, ["any", "0", "picture"], "picture_invalid"),
        ({"any": [{"still": 1}, {"element": {}}]}, ["any", "1", "element"], "selector_empty"),
        ({"any": [{"still": 0.01}]}, ["any", "0", "still"], "greater_than_equal"),
        ({"any": [{"changed": False}]}, ["any", "0", "changed"], "literal_error"),
        ({"any": [{"still": 1}], "timeout": 121}, ["timeout"], "less_than_equal"),
        ({"any": [{"still": 1, "region": {"x": 0}}]}, ["any", "0", "region", "y"], "missing"),
        (
            {**STILL, "screenshot": {"display": 1, "region": dict.fromkeys("xy", 0)}},
            ["screenshot", "region", "width"],
            "missing",
        ),
    ],
    ids=str,
)
async def test_wait_that_cannot_be_is_422_and_names_the_place(
    service: Service, body: Any, loc: list[str], kind: str
) -> None:
    (found, told), *_ = (await service.post(WAIT, body)).faults
    assert found == ["body", *loc]
    assert told == kind


async def test_region_that_the_machine_does_not_have_is_422(service: Service, desk: Desk) -> None:
    asking = waiting_for(service)
    look = await desk.heard(Look)
    failed = RequestFailed(
        request=look.request,
        reason="the region is not within the desktop",
        code="region_outside_desktop",
        field="any.0.region",
    )
    await desk.link.say(failed)
    assert (await asking).faults == [(["body", "any", "0", "region"], "region_outside_desktop")]


async def test_machine_looks_no_more_when_its_caller_is_gone(service: Service, desk: Desk) -> None:
    reader, writer = await service.open_connection()
    body = json.dumps({"any": [{"still": 5}], "timeout": 120})
    writer.write(
        f"POST {WAIT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
    )
    look = await desk.heard(Look)
    writer.close()
    assert (await desk.heard(LookStop)).request == look.request
    await sees(desk, look, None)
    assert await reader.read() == b""
    await until(lambda: not service.server.services.machines.waits)


async def test_link_that_ends_and_a_screen_that_goes_end_the_wait(
    service: Service, desk: Desk
) -> None:
    asking = waiting_for(service)
    await desk.heard(Look)
    await desk.link.websocket.close()
    assert (await asking).refusal == (503, "machine-unavailable")


async def test_machine_that_fails_to_look_is_a_problem_with_its_words(
    service: Service, desk: Desk
) -> None:
    asking = waiting_for(service)
    look = await desk.heard(Look)
    await desk.link.say(RequestFailed(request=look.request, reason="the display is gone"))
    reply = await asking
    assert (reply.status, reply.json["reason"]) == (503, "no_screen")
    assert "the display is gone" in reply.json["detail"]


async def test_machine_has_few_waits_at_once_and_looks_beside_them(
    service: Service, desk: Desk
) -> None:
    asking = [waiting_for(service) for _ in range(screens.MAX_OPEN_LOOKS)]
    looks = [await desk.heard(Look) for _ in asking]
    assert (await service.post(WAIT, STILL)).refusal == (429, "machine-busy")
    shooting = desk.asking("/v1/computer/desk-1/display/screenshot")
    await desk.heard(Screenshot)
    for look in looks:
        await sees(desk, look, 0)
    assert {(await each).status for each in asking} == {200}
    await desk.link.websocket.close()
    await shooting


async def test_token_has_few_waits_at_once(
    service: Service, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "MOST_OF_A_TOKEN", 1)
    asking = waiting_for(service)
    look = await desk.heard(Look)
    refused = await service.post(WAIT, STILL)
    assert (refused.refusal, refused.headers["Retry-After"]) == ((429, "too-many-streams"), "1")
    other = await service.new_token(*ADMINISTRATOR_SCOPES)
    others = waiting_for(service, token=other)
    await sees(desk, await desk.heard(Look), 0)
    await sees(desk, look, 0)
    assert ((await asking).status, (await others).status) == (200, 200)


async def test_wait_goes_on_while_it_is_asked_for(
    service: Service, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = counted_questions(monkeypatch)
    asking = waiting_for(service)
    look = await desk.heard(Look)
    await until(lambda: len(questions) >= 3)
    await sees(desk, look, 0)
    assert (await asking).json["matched"] == 0


async def test_server_that_leaves_ends_waits_with_a_word(
    service: Service, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waits, "POLL_SECONDS", 0.05)
    asking = waiting_for(service)
    await desk.heard(Look)
    monkeypatch.setattr(service.server.services.operation, "leaving", True)
    assert (await asking).refusal == (503, "server-stopping")
    await desk.heard(LookStop)


async def test_whoever_may_not_see_the_screen_waits_for_nothing(service: Service) -> None:
    others = [scope for scope in ADMINISTRATOR_SCOPES if scope is not Scope.SCREEN_READ]
    reply = await service.post(WAIT, STILL, token=await service.new_token(*others))
    assert (reply.status, reply.json["scope"]) == (403, "screen:read")
    assert (await service.post(WAIT, STILL)).problem == "not-found"


async def test_token_that_is_revoked_sees_nothing_any_more(service: Service, desk: Desk) -> None:
    token = await service.new_token(Scope.SCREEN_READ)
    asking = waiting_for(service, token=token)
    await desk.heard(Look)
    tokens = service.stores.tokens
    listed, _ = await tokens.list(service.organization_id, PageQuery())
    (own,) = (each for each in listed if [*each.scopes] == ["screen:read"])
    await tokens.revoke(service.organization_id, own.id)
    await desk.heard(LookStop)
    assert (await asking).status == 401


async def test_caller_who_leaves_before_the_wait_begins_has_nobody_look(
    service: Service, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_left = asyncio.Event()
    until_seen = WaitHandler._until_seen

    async def later(handler: WaitHandler, *about: Any) -> Any:
        await has_left.wait()
        await until(lambda: not handler._has_caller)
        return await until_seen(handler, *about)

    monkeypatch.setattr(WaitHandler, "_until_seen", later)
    _, writer = await service.open_connection()
    body = json.dumps(STILL)
    writer.write(
        f"POST {WAIT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
    )
    await until(lambda: bool(service.server.services.machines.waits))
    writer.close()
    has_left.set()
    await until(lambda: not service.server.services.machines.waits)
    monkeypatch.undo()
    asking = desk.asking("/v1/computer/desk-1/display/screenshot")
    await desk.heard(Screenshot)  # And nothing before it.
    await desk.link.websocket.close()
    await asking
