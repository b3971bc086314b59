"""A machine's screen over HTTP, with a machine that the test plays."""

import asyncio
import gc
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from schemas.http.queries import PageQuery
from schemas.inputs.outcomes import Point
from schemas.inputs.pictures import Area
from schemas.link.close_codes import CloseCode
from schemas.link.messages import (
    DesktopQuery,
    DesktopSeen,
    Display,
    RequestFailed,
    ScreenFailed,
    Screenshot,
    ScreenStart,
    ScreenStop,
)
from schemas.resources.tokens import ADMINISTRATOR_SCOPES, Scope
from schemas.values.pictures import PictureFormat, Region, Size
from server.api.looks import screen as display
from server.api.looks.screen import dimensions
from server.machines.screens import MAX_OPEN_REQUESTS
from tests.events import listening
from tests.links import hello
from tests.pictures import PictureStream, decoded, noise, picture
from tests.screens import Desk, connected, read
from tests.service import PATIENCE_SECONDS, Reply, Service, until
from tests.store import entered

SCREENSHOT = "/v1/computer/desk-1/display/screenshot"
STREAM = "/v1/computer/desk-1/display/stream"
DIMENSIONS = "/v1/computer/desk-1/display/dimensions"
POSITION = "/v1/computer/desk-1/input/mouse/position"
ADDRESSES = [SCREENSHOT, STREAM, DIMENSIONS, POSITION]
DESKTOP = [Display(x=-100, y=0, width=100, height=50), Display(x=0, y=10, width=640, height=480)]


async def over(viewer: PictureStream) -> None:
    """Wait until the viewer's stream ends."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        await viewer.ended()


async def revoke(service: Service) -> None:
    """Revoke the one token that may do nothing but look."""
    tokens = service.stores.tokens
    listed, _ = await tokens.list(service.organization_id, PageQuery())
    (token,) = (each for each in listed if [*each.scopes] == ["screen:read"])
    await tokens.revoke(service.organization_id, token.id)


@pytest.fixture
def desk(io_loop: IOLoop, service: Service) -> Iterator[Desk]:
    with entered(io_loop, connected(service)) as desk:
        yield desk


@pytest.mark.parametrize(
    ("query", "form", "wish"),
    [
        ("", "png", (None, None, 80)),
        ("?format=jpeg&quality=95", "jpeg", (None, None, 95)),
        ("?format=png&width=64&height=16384", "png", (64, 16384, 80)),
        ("?format=webp&quality=50", "webp", (None, None, 50)),
    ],
)
async def test_screenshot_is_the_machines_picture_with_what_it_shows(
    service: Service, query: str, form: PictureFormat, wish: Any
) -> None:
    content = picture(form, shade=77)
    async with connected(service) as desk:
        asking = desk.asking(SCREENSHOT + query)
        asked = await desk.heard(Screenshot)
        assert (asked.format, (asked.width, asked.height, asked.quality)) == (form, wish)
        region = Region(-1920, 0, 3200, 2000)
        await desk.answers(asked, content, region=region)
        reply = await asking
    assert (reply.status, reply.body) == (200, content)
    assert reply.headers["Content-Type"] == f"image/{form}"
    assert reply.headers["Farhand-Screen-Region"] == "-1920,0,3200,2000"
    assert reply.headers["Farhand-Picture-Size"] == "64,40"
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"


async def test_part_of_the_desktop_and_no_pointer_are_asked_of_the_machine(desk: Desk) -> None:
    for query, wish in (
        ("", (None, None, True)),
        ("?region=-10,20,30,40", (Area(x=-10, y=20, width=30, height=40), None, True)),
        ("?display=1&pointer=false", (None, 1, False)),
    ):
        asking = desk.asking(SCREENSHOT + query)
        asked = await desk.heard(Screenshot)
        assert (asked.region, asked.display, asked.pointer) == wish
        await desk.answers(asked, picture("png"))
        await asking


async def test_part_that_the_desktop_does_not_have_is_422(desk: Desk) -> None:
    asking = desk.asking(SCREENSHOT + "?region=0,0,9999,9999")
    asked = await desk.heard(Screenshot)
    words = "the region is not within the desktop"
    failed = RequestFailed(
        request=asked.request, reason=words, code="region_outside_desktop", field="region"
    )
    await desk.link.say(failed)
    assert (await asking).faults == [(["query", "region"], "region_outside_desktop")]


async def screenshot(desk: Desk, content: bytes, tag: str = "", **head: Any) -> Reply:
    """What a screenshot is answered, asked for with the tag of one before."""
    headers = {"If-None-Match": tag} if tag else {}
    asking = desk.asking(SCREENSHOT + f"?format={head.pop('form', 'png')}", headers=headers)
    await desk.answers(await desk.heard(Screenshot), content, **head)
    reply: Reply = await asking
    return reply


async def test_unchanged_screen_is_304_and_a_changed_one_is_not(desk: Desk) -> None:
    first = await screenshot(desk, picture("png"))
    tag = first.headers["ETag"]
    assert (first.status, tag[0], tag[-1]) == (200, '"', '"')
    for known in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        same = await screenshot(desk, picture("png"), known)
        assert (same.status, same.body) == (304, b"")
        for name in ("ETag", "Farhand-Screen-Region", "Farhand-Picture-Size", "Cache-Control"):
            assert same.headers[name] == first.headers[name]
    assert (await screenshot(desk, picture("png"), '"other"')).body == picture("png")
    others = (
        await screenshot(desk, picture("png", shade=1), tag),
        await screenshot(desk, picture("png"), tag, region=Region(1, 0, 1280, 800)),
        await screenshot(desk, picture("jpeg"), tag, form="jpeg"),
    )
    assert [reply.status for reply in others] == [200, 200, 200]
    assert len({tag, *(reply.headers["ETag"] for reply in others)}) == 4
    ((loc, _),) = (await desk.service.get(SCREENSHOT, headers={"If-None-Match": "x"})).faults
    assert loc == ["header", "If-None-Match"]


async def test_dimensions_and_pointer_are_those_of_now(desk: Desk) -> None:
    for path, expected in (
        (
            DIMENSIONS,
            {
                "x": -100,
                "y": 0,
                "width": 740,
                "height": 490,
                "displays": [each.model_dump() for each in DESKTOP],
            },
        ),
        (POSITION, {"x": -7, "y": 11}),
    ):
        asking = desk.asking(path)
        asked = await desk.heard(DesktopQuery)
        pointer = Point(x=-7, y=11)
        await desk.link.say(DesktopSeen(request=asked.request, displays=DESKTOP, pointer=pointer))
        reply = await asking
        assert (reply.status, reply.json) == (200, expected)


def test_dimensions_go_around_all_displays() -> None:
    (only,) = dimensions(DESKTOP[:1]).displays
    assert only is DESKTOP[0]
    assert dimensions(DESKTOP[:1]).model_dump(exclude={"displays"}) == {
        "x": -100,
        "y": 0,
        "width": 100,
        "height": 50,
    }


WRONG_QUERIES = [
    (SCREENSHOT + "?format=gif", "format"),
    (SCREENSHOT + "?width=0", "width"),
    (SCREENSHOT + "?height=16385", "height"),
    (SCREENSHOT + "?quality=96", "quality"),
    (SCREENSHOT + "?rate=1", "rate"),
    *(
        (f"{SCREENSHOT}?region={region}", "region")
        for region in ("", "1,2,3", "1,2,3,4,5", "0,0,wide,3", "0,0,1.5,1", "0,0,1e3,1")
    ),
    (SCREENSHOT + "?region=0,0,1,1&region=0,0,1,1", "region"),
    (SCREENSHOT + "?display=-1", "display"),
    (SCREENSHOT + "?display=64", "display"),
    (SCREENSHOT + "?pointer=no", "pointer"),
    (STREAM + "?region=0,0,1,1", "region"),
    (STREAM + "?rate=0", "rate"),
    (STREAM + "?rate=31", "rate"),
    (STREAM + "?rate=nan", "rate"),
    (STREAM + "?format=png", "format"),
    (STREAM + "?width=wide", "width"),
    (DIMENSIONS + "?width=1", "width"),
]


@pytest.mark.parametrize(("path", "field"), WRONG_QUERIES)
async def test_wrong_query_is_422_and_names_the_parameter(
    service: Service, path: str, field: str
) -> None:
    ((loc, _),) = (await service.get(path)).faults
    assert loc == ["query", field]


@pytest.mark.parametrize("region", ["0,0,0,1", "0,0,1,-1", "0,0,65537,1", "4294967296,0,1,1"])
async def test_region_of_impossible_numbers_is_422_at_the_region(
    service: Service, region: str
) -> None:
    ((loc, _),) = (await service.get(f"{SCREENSHOT}?region={region}")).faults
    assert loc[:2] == ["query", "region"]


async def test_region_and_display_at_once_are_422(service: Service) -> None:
    faults = (await service.get(SCREENSHOT + "?region=0,0,1,1&display=0")).faults
    assert faults == [(["query"], "region_and_display")]


@pytest.mark.parametrize("path", ADDRESSES)
async def test_screen_that_cannot_be_seen_is_a_problem_that_says_why(
    service: Service, path: str
) -> None:
    assert (await service.get(path)).problem == "not-found"
    machine = await service.new_machine()
    reply = await service.get(path)
    assert (reply.status, reply.problem, reply.json["reason"]) == (
        *(503, "machine-unavailable"),
        "offline",
    )
    async with machine.connected(hello(no_screen="its owner lets nobody look")):
        reply = await service.get(path)
        assert (reply.status, reply.json["reason"]) == (503, "no_screen")
        assert "its owner lets nobody look" in reply.json["detail"]
        assert reply.headers["Retry-After"]
        elsewhere = await service.elsewhere()
        assert (await elsewhere.get(path)).problem == "not-found"
        others = [scope for scope in ADMINISTRATOR_SCOPES if scope is not Scope.SCREEN_READ]
        reply = await service.get(path, token=await service.new_token(*others))
        assert (reply.status, reply.json["scope"]) == (403, "screen:read")


@pytest.mark.parametrize("path", [SCREENSHOT, DIMENSIONS, POSITION])
async def test_machine_that_fails_to_look_is_a_problem_with_its_words(
    desk: Desk, path: str
) -> None:
    asking = desk.asking(path)
    asked = await desk.link.next_message()
    assert isinstance(asked, Screenshot | DesktopQuery)
    await desk.link.say(RequestFailed(request=asked.request, reason="the display is gone"))
    reply = await asking
    assert (reply.status, reply.json["reason"]) == (503, "no_screen")
    assert "the display is gone" in reply.json["detail"]


@pytest.mark.parametrize("path", ADDRESSES)
async def test_machine_that_does_not_answer_in_time_is_a_problem(
    service: Service, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.dispatch.questions.screens.ANSWER_SECONDS", 0.05)
    async with connected(service):
        reply = await service.get(path)
        assert (reply.status, reply.json["reason"]) == (503, "no_screen")
        assert "within 0.05 s" in reply.json["detail"]


@pytest.mark.parametrize("path", ADDRESSES)
async def test_machine_that_disconnects_before_it_answers_is_a_problem(
    desk: Desk, path: str
) -> None:
    asking = desk.asking(path)
    await desk.link.next_message()
    await desk.link.websocket.close()
    assert (await asking).refusal == (503, "machine-unavailable")


async def test_more_questions_than_a_machine_may_owe_are_429(service: Service, desk: Desk) -> None:
    asking = [desk.asking(DIMENSIONS) for _ in range(MAX_OPEN_REQUESTS)]
    for _ in asking:
        await desk.heard(DesktopQuery)
    assert (await service.get(SCREENSHOT)).refusal == (429, "machine-busy")
    await desk.link.websocket.close()
    assert {(await each).status for each in asking} == {503}


async def test_live_screen_is_a_stream_of_pictures_for_browsers(desk: Desk) -> None:
    viewer, asked = await desk.watched("?width=640&quality=50&rate=30")
    assert (asked.width, asked.height, asked.quality, asked.rate) == (640, None, 50, 30)
    assert viewer.headers["Content-Type"].startswith("multipart/x-mixed-replace; boundary=")
    assert viewer.headers["Cache-Control"] == "no-store"
    first = await read(viewer)
    assert first.content == picture()
    captured_at = int(first.headers["Farhand-Captured-At"])
    assert captured_at > 1_600_000_000_000
    assert first.headers == {
        "Content-Type": "image/jpeg",
        "Content-Length": str(len(picture())),
        "Farhand-Screen-Region": "0,0,1280,800",
        "Farhand-Picture-Size": "64,40",
        "Farhand-Captured-At": str(captured_at),
    }
    for shade in (100, 200):
        await desk.shows(picture(shade=shade), number=asked.stream)
        assert (await read(viewer)).content == picture(shade=shade)
    await viewer.close()
    assert (await desk.heard(ScreenStop)).stream == asked.stream


async def test_many_viewers_share_one_stream_of_the_machine(service: Service, desk: Desk) -> None:
    viewer, asked = await desk.watched()
    others = [await desk.viewer() for _ in range(19)]
    for each in (viewer, *others):
        assert (await read(each)).content == picture()
    await desk.shows(picture(shade=9), number=asked.stream)
    for each in (viewer, *others):
        assert (await read(each)).content == picture(shade=9)
    for each in others:
        await each.close()
    link = service.link_of("desk-1")
    assert link is not None
    await until(lambda: link.screen.viewers == 1)
    assert (await service.get("/v1/machines/desk-1")).json["viewers"] == ["administrator"]
    await viewer.close()
    # Nothing was asked of the machine in between.
    await desk.heard(ScreenStop)


async def test_who_looks_at_a_machine_is_told_as_it_changes(service: Service) -> None:
    async with connected(service) as desk, listening(service) as stream:
        viewer, _ = await desk.watched()
        await stream.until(lambda told: told.data.get("viewers") == ["administrator"])
        await viewer.close()
        await stream.until(lambda told: told.data.get("viewers") == [])


async def test_viewer_with_a_lower_rate_gets_fewer_pictures_and_the_newest(desk: Desk) -> None:
    quick, _ = await desk.watched("?rate=30")
    slow = await desk.viewer("?rate=1")
    await read(quick)
    await read(slow)
    for shade in range(1, 6):
        await desk.shows(picture(shade=shade * 40), number=1)
        await read(quick)
    # Its next picture is due after all of these; on a busy host one may be due between them.
    shown = [(await read(slow)).content]
    while shown[-1] != picture(shade=200):
        shown.append((await read(slow)).content)
    assert len(shown) < 5
    await quick.close()
    await slow.close()


async def test_unchanged_picture_is_repeated_only_after_long_silence(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewer, _ = await desk.watched("?rate=30")
    first = await read(viewer)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await viewer.part()
    await viewer.close()
    await desk.heard(ScreenStop)
    monkeypatch.setattr(display, "REPEAT_SECONDS", 0.05)
    viewer, _ = await desk.watched("?rate=30")
    parts = [await read(viewer) for _ in range(3)]
    assert {part.content for part in parts} == {first.content}
    assert len({part.headers["Farhand-Captured-At"] for part in parts}) == 1
    await viewer.close()


@pytest.mark.parametrize("query", ["?rate=30", "?rate=0.01"])
async def test_still_picture_is_no_silence(
    service: Service, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    """Also while a picture is not due yet; a reader that knows nothing of it reads on as before."""
    monkeypatch.setattr(display, "ALIVE_SECONDS", 0.02)
    async with connected(service) as desk:
        viewer, asked = await desk.watched(query)
        assert "Farhand-Alive" not in (await read(viewer)).headers
        async with asyncio.timeout(PATIENCE_SECONDS):
            await viewer.heard(b"Farhand-Alive: ", times=3)
        if query == "?rate=30":
            await desk.shows(picture(shade=100), number=asked.stream)
            part = await read(viewer)
            assert part.content == picture(shade=100)
            assert int(part.headers["Farhand-Alive"]) > int(part.headers["Farhand-Captured-At"])
        await viewer.close()


async def test_slow_viewer_skips_pictures_and_costs_no_memory(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy host may need longer for all of this than somebody may take nothing.
    monkeypatch.setattr(display, "SLOW_SECONDS", 3600.0)
    content = [noise("jpeg", 1280, 800 + each) for each in range(2)]
    sizes = [Size(1280, 800 + each) for each in range(2)]
    async with connected(service) as desk:
        quick, _ = await desk.watched("?rate=30")
        stuck = [await desk.viewer("?rate=30") for _ in range(5)]
        await read(quick)
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        count = 60
        for number in range(count):
            which = number % 2
            await desk.shows(content[which], number=1, size=sizes[which])
            assert (await read(quick)).size == sizes[which]
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        # Each may have one picture in its buffers, twice over, and nobody more.
        assert after - before < 3 * (len(stuck) + 2) * len(content[0])
        assert count * len(content[0]) > 2 * (after - before)
        parts = [await read(stuck[0]) for _ in range(3)]
        assert parts[-1].size in sizes
        for each in (quick, *stuck):
            await each.close()


async def test_reader_who_takes_nothing_for_long_is_closed(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(display, "SLOW_SECONDS", 0.2)
    monkeypatch.setattr(display, "CHECK_SECONDS", 0.05)
    content = noise("jpeg", 1280, 800)
    async with connected(service) as desk:
        viewer, asked = await desk.watched("?rate=30")
        link = service.link_of("desk-1")
        assert link is not None
        while link.screen.viewers:
            await desk.shows(content, number=asked.stream, size=Size(1280, 800))
            await desk.link.websocket.ping()
            await asyncio.sleep(0.01)
        await desk.heard(ScreenStop)
        await viewer.close()


async def test_revoked_token_ends_a_stream_that_nobody_reads(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(display, "CHECK_SECONDS", 0.05)
    content = noise("jpeg", 1280, 800)
    async with connected(service) as desk:
        secret = await service.new_token(Scope.SCREEN_READ)
        opening = desk.opening("?rate=30", token=secret)
        asked = await desk.heard(ScreenStart)
        await desk.shows(number=asked.stream)
        viewer = await opening
        await revoke(service)
        link = service.link_of("desk-1")
        assert link is not None
        while link.screen.viewers:
            await desk.shows(content, number=asked.stream, size=Size(1280, 800))
            await asyncio.sleep(0.01)
        await desk.heard(ScreenStop)
        await viewer.close()


async def test_stream_ends_when_nobody_can_say_whether_it_may_still_be_seen(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_arguments: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(display, "CHECK_SECONDS", 0.05)
    async with connected(service) as desk:
        viewer, _ = await desk.watched()
        monkeypatch.setattr(display.StreamHandler, "authorize", fail)
        await desk.heard(ScreenStop)
        await viewer.close()
    assert "task check a viewer failed" in caplog.text


async def test_token_that_is_revoked_before_the_first_picture_sees_none(service: Service) -> None:
    async with connected(service) as desk:
        asking = desk.asking(STREAM, token=await service.new_token(Scope.SCREEN_READ))
        asked = await desk.heard(ScreenStart)
        await revoke(service)
        await desk.heard(ScreenStop)
        await desk.shows(number=asked.stream)
        assert (await asking).problem == "unauthenticated"


async def test_revoked_token_ends_the_stream(service: Service, desk: Desk) -> None:
    secret = await service.new_token(Scope.SCREEN_READ)
    opening = desk.opening(token=secret)
    asked = await desk.heard(ScreenStart)
    await desk.shows(number=asked.stream)
    viewer = await opening
    await revoke(service)
    await over(viewer)
    await desk.heard(ScreenStop)


async def test_lost_link_ends_the_stream(desk: Desk) -> None:
    viewer, _ = await desk.watched()
    await desk.link.websocket.close()
    await over(viewer)


async def test_stopping_server_ends_the_stream(service: Service, desk: Desk) -> None:
    viewer, _ = await desk.watched()
    service.server.services.operation.leaving = True
    await over(viewer)
    service.server.services.operation.leaving = False


async def test_screen_that_fails_ends_the_stream_and_can_be_asked_for_again(desk: Desk) -> None:
    viewer, asked = await desk.watched()
    await desk.link.say(ScreenFailed(stream=asked.stream, reason="the display is gone"))
    await over(viewer)
    asking = desk.asking(STREAM)
    asked = await desk.heard(ScreenStart)
    await desk.link.say(ScreenFailed(stream=asked.stream, reason="still gone"))
    reply = await asking
    assert (reply.status, reply.json["reason"]) == (503, "no_screen")
    assert "still gone" in reply.json["detail"]


@pytest.mark.parametrize("settings", [{"screen_viewers": 2}])
async def test_more_viewers_than_there_is_room_for_are_429(service: Service, desk: Desk) -> None:
    first, _ = await desk.watched()
    second = await desk.viewer()
    reply = await service.get(STREAM)
    assert (reply.status, reply.problem) == (429, "too-many-streams")
    assert reply.headers["Retry-After"]
    await second.close()
    link = service.link_of("desk-1")
    assert link is not None
    await until(lambda: link.screen.viewers == 1)
    third = await desk.viewer()
    assert third.status == 200
    await first.close()
    await third.close()


LARGEST = 64 * 1024
LIES: dict[str, tuple[bytes, dict[str, Any]]] = {
    "a page": (b"<script>alert(1)</script>", {}),
    "a picture of another size": (picture(width=65), {}),
    "a bomb": (picture(), {"size": Size(16_384, 16_384)}),
    "a picture that is too large": (noise(), {"size": Size(640, 400)}),
    "a picture larger than asked for": (picture(width=200), {"size": Size(200, 40)}),
    "a picture of another stream": (picture(), {"number": 2}),
}


@pytest.mark.parametrize("settings", [{"screen_picture_bytes": LARGEST}])
@pytest.mark.parametrize("lie", LIES)
async def test_machine_that_sends_what_is_no_such_picture_is_closed_and_nobody_else(
    service: Service, lie: str
) -> None:
    content, head = LIES[lie]
    assert len(noise()) > LARGEST
    async with connected(service, "desk-2") as honest, connected(service) as hostile:
        others, asked = await honest.watched()
        viewer, _ = await hostile.watched("?width=128")
        await read(viewer)
        await hostile.shows(content, **head)
        code, reason = await hostile.link.closed()
        assert code == CloseCode.MESSAGE_INVALID, reason
        await over(viewer)
        await read(others)
        await honest.shows(picture(shade=1), number=asked.stream)
        assert decoded((await read(others)).content).size == (64, 40)
        await others.close()
