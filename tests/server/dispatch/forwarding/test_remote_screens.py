"""The screen of a machine whose link is on another node."""

import asyncio

import pytest

from schemas.inputs.outcomes import Point, Refused
from schemas.inputs.pictures import Area
from schemas.link.messages import (
    DesktopQuery,
    DesktopSeen,
    Display,
    RequestFailed,
    Screenshot,
    ScreenStart,
    ScreenStop,
)
from schemas.values.pictures import Size
from server.dispatch.forwarding import remote_viewers
from tests.links import hello
from tests.nodes import until_reached
from tests.pictures import PictureStream, noise, picture
from tests.screens import Desk, connected, read
from tests.service import PATIENCE_SECONDS, Service, new_key, until
from tests.told_elements import element, telling, tells

SCREENSHOT = "/v1/computer/desk-1/display/screenshot"
POSITION = "/v1/computer/desk-1/input/mouse/position"
STREAM = "/v1/computer/desk-1/display/stream"


async def shown(viewer: PictureStream, content: bytes) -> None:
    """Read on until a viewer is shown a picture."""
    while (await read(viewer)).content != content:
        pass


async def test_screenshot_of_any_size_comes_from_another_node(nodes: list[Service]) -> None:
    here, there = nodes
    async with connected(here) as desk:
        await until_reached(there, "desk-1")
        asking = desk.at(there).asking(SCREENSHOT)
        asked = await desk.heard(Screenshot)
        content = noise("png", 640, 400)
        assert len(content) > 512 * 1024  # Larger than a piece on the bus.
        await desk.answers(asked, content, size=Size(640, 400))
        reply = await asking
        assert reply.status == 200, reply.body
        assert reply.body == content
        assert reply.headers["Farhand-Picture-Size"]


async def test_what_another_nodes_machine_does_not_have_is_422_as_here(
    nodes: list[Service],
) -> None:
    here, there = nodes
    async with connected(here) as desk:
        await until_reached(there, "desk-1")
        asking = desk.at(there).asking(SCREENSHOT + "?region=1,2,3,4&format=webp&pointer=false")
        asked = await desk.heard(Screenshot)
        assert (asked.region, asked.format, asked.pointer) == (
            *(Area(x=1, y=2, width=3, height=4), "webp"),
            False,
        )
        why = "the region is not within the desktop"
        await desk.link.say(
            RequestFailed(request=asked.request, reason=why, code="outside", field="region")
        )
        reply = await asking
        assert reply.faults == [(["query", "region"], "outside")]
        assert reply.json["detail"][0]["msg"] == why


async def test_pointer_is_asked_for_through_another_node(nodes: list[Service]) -> None:
    here, there = nodes
    async with connected(here) as desk:
        await until_reached(there, "desk-1")
        asking = desk.at(there).asking(POSITION)
        asked = await desk.heard(DesktopQuery)
        displays = [Display(x=0, y=0, width=640, height=480)]
        await desk.link.say(
            DesktopSeen(request=asked.request, displays=displays, pointer=Point(x=7, y=8))
        )
        assert (await asking).json == {"x": 7, "y": 8}


async def test_elements_are_told_through_another_node(nodes: list[Service]) -> None:
    here, there = nodes
    async with here.joined(telling()) as (machine, link):
        await until_reached(there, machine)
        asking = Desk(there, machine, link).asking("/v1/computer/desk-1/elements?limit=1000")
        told = [element(name=f"{n:03}" * 50, value="v" * 400, ref=f"{n}") for n in range(200)]
        await tells(link, *told, truncated=None)
        reply = await asking
        assert (reply.status, len(reply.json["items"])) == (200, 200)
        assert reply.json["items"][7]["selector"]["name"] == told[7].name
        click, key = {"element": {"name": "Save"}}, {"Idempotency-Key": new_key()}
        path = machine.input_path("mouse/click")
        background = there.server.services.background
        sending = background.start(there.post(path, click, headers=key), "a client of the test")
        await link.obey(Refused(code="element_missing", message="gone", loc=("body", "element")))
        first = await sending
        assert first.refusal == (409, "element-missing")
        for node in nodes:
            again = await node.post(path, click, headers=key)
            assert (again.status, again.body) == (409, first.body)


async def test_viewers_of_all_nodes_share_one_capture(nodes: list[Service]) -> None:
    here, there = nodes
    async with connected(here) as desk:
        await until_reached(there, "desk-1")
        far = desk.at(there)
        first, asked = await far.watched("?rate=30&width=100")
        assert (asked.rate, asked.width) == (30, 100)
        await read(first)
        second = await far.viewer("?rate=30&width=100")
        third = await desk.viewer("?rate=30&width=100")
        for viewer in (second, third):
            await read(viewer)
        content = picture(shade=200)
        await desk.shows(content, number=asked.stream)
        for viewer in (first, second, third):
            await shown(viewer, content)
        for node in nodes:
            assert (await node.get("/v1/machines/desk-1")).json["viewers"] == ["administrator"]
        for viewer in (first, second, third):
            await viewer.close()
        assert (await desk.heard(ScreenStop)).stream == asked.stream
        for node in nodes:
            assert (await node.get("/v1/machines/desk-1")).json["viewers"] == []
        await until(lambda: not there.server.services.cluster.elsewhere.viewers)


async def test_larger_wish_of_another_node_is_shown_to_all(nodes: list[Service]) -> None:
    here, there = nodes
    async with connected(here) as desk:
        await until_reached(there, "desk-1")
        near, asked = await desk.watched("?rate=5&width=100")
        await read(near)
        opening = desk.at(there).opening("?rate=20&width=300")
        larger = await desk.heard(ScreenStart)
        assert (larger.rate, larger.width) == (20, 300)
        await desk.shows(picture(shade=90), number=larger.stream)
        far = await opening
        for viewer in (far, near):
            await shown(viewer, picture(shade=90))
        await far.close()
        smaller = await desk.heard(ScreenStart)
        assert (smaller.rate, smaller.width) == (asked.rate, asked.width)
        await near.close()


async def test_viewers_of_a_node_that_asks_no_more_have_left(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_viewers, "LEFT_SECONDS", 0.3)
    here, there = nodes
    async with connected(here) as desk:
        await until_reached(there, "desk-1")
        viewer, _ = await desk.at(there).watched()
        await read(viewer)
        bus = there.server.services.cluster.bus

        async def hang(subject: str, message: bytes, timeout: float) -> bytes:
            await asyncio.sleep(60)
            raise AssertionError

        monkeypatch.setattr(bus, "request", hang)
        await desk.shows(picture(shade=1))
        await desk.heard(ScreenStop)
        await viewer.close()


async def test_screen_that_cannot_be_seen_and_machine_that_is_away_say_so_at_any_node(
    nodes: list[Service],
) -> None:
    here, there = nodes
    machine = await here.new_machine()
    for path in (SCREENSHOT, STREAM, POSITION):
        reply = await there.get(path)
        assert (reply.status, reply.json["reason"]) == (503, "offline")
    async with machine.connected(hello(no_screen="the display is off")):
        await until_reached(there, "desk-1")
        for path in (SCREENSHOT, STREAM):
            reply = await there.get(path)
            assert (reply.status, reply.json["reason"]) == (503, "no_screen"), path
            assert "the display is off" in reply.json["detail"]


async def test_live_screen_ends_with_the_link(nodes: list[Service]) -> None:
    here, there = nodes
    async with connected(here) as desk:
        await until_reached(there, "desk-1")
        viewer, _ = await desk.at(there).watched()
        await read(viewer)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await viewer.ended()
