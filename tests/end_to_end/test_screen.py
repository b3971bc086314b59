"""The screen of a real X server, through real processes, to whoever looks."""

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import Xlib.display
from PIL import Image, ImageChops
from Xlib import X

from machine_client.system.clock import boottime_seconds
from tests.desktop import Witness, somebody_else, unsteady_display, virtual_display
from tests.end_to_end.system import Workstation
from tests.machine_client.fakes import FakeView
from tests.machine_client.scripted import machine_client
from tests.pictures import Part, PictureStream, decoded
from tests.processes import WAIT_SECONDS, Answer, ServedApi, ServerProcess, until
from tests.store import async_test

WINDOW = (700, 300, 40, 30)
"""Place and size of the one thing on the screen that is not black."""

Colour = tuple[int, int, int]
RED, BLUE = (255, 0, 0), (0, 0, 255)


class Window:
    """A window that is one colour."""

    def __init__(self, display: str) -> None:
        self._display: Any = Xlib.display.Display(display)
        screen = self._display.screen()
        self._window = screen.root.create_window(
            *WINDOW, 0, screen.root_depth, X.InputOutput, override_redirect=True
        )
        self.show(RED)
        self._window.map()
        self.show(RED)

    def show(self, colour: Colour) -> None:
        red, green, blue = colour
        self._window.change_attributes(background_pixel=red << 16 | green << 8 | blue)
        self._window.clear_area()
        self._display.sync()

    def close(self) -> None:
        self._display.close()


@dataclass
class Looked:
    """A picture and what it shows."""

    image: Image.Image
    region: tuple[int, ...]

    @classmethod
    def of(cls, headers: Any, content: bytes) -> "Looked":
        image = decoded(content)
        assert numbers(headers["Farhand-Picture-Size"]) == image.size
        return cls(image, numbers(headers["Farhand-Screen-Region"]))

    def place_of(self, colour: Colour) -> tuple[int, int] | None:
        """The middle of what has a colour, in the picture's own pixels."""
        difference = ImageChops.difference(
            self.image, Image.new("RGB", self.image.size, colour)
        ).split()
        farthest = reduce(ImageChops.lighter, difference)
        box = farthest.point([255] * 90 + [0] * 166).getbbox()
        return None if box is None else ((box[0] + box[2] - 1) // 2, (box[1] + box[3] - 1) // 2)

    def input_place(self, x: int, y: int) -> tuple[int, int]:
        """What an input calls a place of the picture, as the documentation says."""
        left, top, width, height = self.region
        return (
            left + math.floor((x + 0.5) * width / self.image.width),
            top + math.floor((y + 0.5) * height / self.image.height),
        )


def numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


@pytest.fixture(scope="module")
def desk(
    shared_server: ServerProcess, api: ServedApi, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workstation]:
    """A machine on a display of its own, on which nothing happens by itself."""
    with virtual_display() as display:
        directory = tmp_path_factory.mktemp("screen")
        workstation = Workstation.added(shared_server.url, api, display, directory)
        with workstation.joined():
            yield workstation


@pytest.fixture
def window(desk: Workstation) -> Iterator[Window]:
    somebody_else(desk.display, "mousemove", "5", "5")
    with closing(Window(desk.display)) as window:
        yield window


def display_path(desk: Workstation, what: str) -> str:
    return f"/v1/computer/{desk.machine}/display/{what}"


def screenshot(desk: Workstation, query: str = "") -> Looked:
    answer: Answer = desk.api.call("GET", display_path(desk, f"screenshot{query}"))
    assert answer.status == 200, answer.body
    return Looked.of(answer.headers, answer.body)


@asynccontextmanager
async def watching(
    desk: Workstation, query: str = "", token: str = ""
) -> AsyncIterator[PictureStream]:
    secret = token or administrators_token(desk)
    path = display_path(desk, f"stream{query}")
    async with await PictureStream.open(desk.url, path, secret) as stream:
        assert stream.status == 200
        yield stream


def administrators_token(desk: Workstation) -> str:
    return desk.api.token


async def next_part(stream: PictureStream) -> Part:
    async with asyncio.timeout(WAIT_SECONDS):
        part = await stream.part()
    assert part is not None
    return part


async def shows(stream: PictureStream, colour: Colour) -> Part:
    """Read on until a picture shows a colour."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            part = await next_part(stream)
            if Looked.of(part.headers, part.content).place_of(colour) is not None:
                return part


def test_screenshot_shows_what_is_there(desk: Workstation, window: Window) -> None:
    looked = screenshot(desk)
    assert looked.image.size == (1280, 800)
    x, y, width, height = WINDOW
    assert looked.image.getpixel((x, y)) == RED
    assert looked.image.getpixel((x + width - 1, y + height - 1)) == RED
    assert looked.image.getpixel((x + width, y)) == (0, 0, 0)
    window.show(BLUE)
    assert screenshot(desk).image.getpixel((x, y)) == BLUE


@pytest.mark.parametrize(
    "query", ["", "?width=640", "?height=333&format=jpeg", "?width=319&height=1000", "?width=97"]
)
def test_click_at_the_mapped_place_hits(desk: Workstation, window: Window, query: str) -> None:
    window.show(RED)
    looked = screenshot(desk, query)
    place = looked.place_of(RED)
    assert place is not None
    with closing(Witness(desk.display)) as witness:
        x, y = looked.input_place(*place)
        assert desk.send("mouse/click", x=x, y=y).status == 200
        (press,) = [event for event in witness.take() if event.kind == "ButtonPress"]
    left, top, width, height = WINDOW
    assert left <= press.x < left + width
    assert top <= press.y < top + height


@pytest.mark.parametrize(
    ("part", "form"),
    [
        ("690,290,60,50", "&format=webp"),
        ("700,300,40,30", ""),
        ("600,200,400,300", "&width=97&format=jpeg"),
        ("739,329,541,471", ""),
    ],
)
def test_place_of_a_part_is_mapped_as_one_of_the_whole(
    desk: Workstation, window: Window, part: str, form: str
) -> None:
    window.show(RED)
    looked = screenshot(desk, f"?region={part}{form}")
    assert looked.region == numbers(part)
    place = looked.place_of(RED)
    assert place is not None
    x, y = looked.input_place(*place)
    left, top, width, height = WINDOW
    assert left <= x < left + width
    assert top <= y < top + height


def test_part_has_its_own_pixels_each(desk: Workstation, window: Window) -> None:
    window.show(BLUE)
    whole, part = screenshot(desk, "?display=0"), screenshot(desk, "?region=690,290,60,50")
    assert whole.region == (0, 0, 1280, 800)
    assert part.image.tobytes() == whole.image.crop((690, 290, 750, 340)).tobytes()


def test_picture_can_do_without_the_pointer(desk: Workstation, window: Window) -> None:
    window.show(BLUE)
    left, top, width, height = WINDOW
    assert desk.send("mouse/move", x=left + width // 2, y=top + height // 2).status == 200

    def colours(more: str = "") -> list[Any] | None:
        region = ",".join(map(str, WINDOW))
        return screenshot(desk, f"?region={region}{more}").image.getcolors(2)

    until(lambda: colours() != [(width * height, BLUE)], "the pointer is seen")
    assert colours("&pointer=false") == [(width * height, BLUE)]


@pytest.mark.parametrize(
    ("query", "code", "why"),
    [
        ("region=1279,0,2,1", "region_outside_desktop", "1280 x 800 pixels from x 0, y 0 on"),
        ("region=-1,0,2,1", "region_outside_desktop", "1280 x 800 pixels from x 0, y 0 on"),
        ("display=1", "display_unknown", "no display 1: the desktop has 1"),
    ],
)
def test_what_the_desktop_does_not_have_is_422_and_says_what_it_has(
    desk: Workstation, query: str, code: str, why: str
) -> None:
    answer = desk.api.call("GET", display_path(desk, f"screenshot?{query}"))
    assert answer.status == 422
    (fault,) = answer.json["detail"]
    assert (fault["loc"], fault["type"]) == (["query", query.partition("=")[0]], code)
    assert why in fault["msg"]


@pytest.mark.parametrize("query", ["", "?format=jpeg&width=500", "?format=webp&display=0"])
def test_unchanged_screen_is_not_sent_again(desk: Workstation, window: Window, query: str) -> None:
    window.show(RED)
    path = display_path(desk, f"screenshot{query}")
    tag = desk.api.call("GET", path).headers["Etag"]

    def again() -> Answer:
        return desk.api.call("GET", path, headers={"If-None-Match": tag})

    assert (again().status, again().body) == (304, b"")
    window.show(BLUE)
    assert again().status == 200
    window.show(RED)
    assert again().status == 304


def test_corners_of_a_scaled_picture_are_on_the_screen(desk: Workstation) -> None:
    looked = screenshot(desk, "?width=211")
    width, height = looked.image.size
    for place in ((0, 0), (width - 1, 0), (0, height - 1), (width - 1, height - 1)):
        x, y = looked.input_place(*place)
        assert desk.send("mouse/move", x=x, y=y).status == 200


def test_dimensions_and_pointer_are_those_of_the_display(desk: Workstation) -> None:
    answer = desk.api.call("GET", display_path(desk, "dimensions"))
    assert (answer.json["width"], answer.json["height"]) == (1280, 800)
    assert desk.send("mouse/move", x=123, y=456).status == 200
    pointer = desk.api.call("GET", f"/v1/computer/{desk.machine}/input/mouse/position")
    assert pointer.json == {"x": 123, "y": 456}


async def test_change_on_the_screen_arrives_in_the_stream(
    desk: Workstation, window: Window
) -> None:
    async with watching(desk, "?width=640&rate=20") as stream:
        await shows(stream, RED)
        for colour in (BLUE, RED, BLUE):
            window.show(colour)
            part = await shows(stream, colour)
            assert Looked.of(part.headers, part.content).image.size == (640, 400)


@pytest.mark.usefixtures("window")
async def test_unchanged_screen_sends_nothing(desk: Workstation) -> None:
    async with watching(desk, "?rate=30") as stream:
        await shows(stream, RED)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.0):
                await stream.part()


@pytest.mark.usefixtures("window")
async def test_revoked_token_ends_the_stream(desk: Workstation) -> None:
    made = desk.api.call("POST", "/v1/tokens", {"name": "viewer", "scopes": ["screen:read"]})
    async with watching(desk, token=made.json["token"]) as stream:
        await shows(stream, RED)
        assert desk.api.call("DELETE", f"/v1/tokens/{made.json['id']}").status == 204
        async with asyncio.timeout(WAIT_SECONDS):
            await stream.ended()


def test_display_that_ends_ends_the_stream_with_words(
    shared_server: ServerProcess, api: ServedApi, tmp_path: Path
) -> None:
    with contextlib.ExitStack() as stack:
        # Another X server beside these tests is not given its number once it has ended.
        screen = stack.enter_context(unsteady_display())
        desk = Workstation.added(shared_server.url, api, screen.name, tmp_path)
        stack.enter_context(desk.joined())

        @async_test
        async def run() -> None:
            async with watching(desk) as stream:
                await next_part(stream)
                screen.kill()
                async with asyncio.timeout(WAIT_SECONDS):
                    await stream.ended()

        run()
        answer = api.call("GET", display_path(desk, "stream"))
        assert (answer.status, answer.json["reason"]) == (503, "no_screen")
        assert "the machine shows no screen" in answer.json["detail"]


def test_owner_who_lets_nobody_look_is_obeyed(
    shared_server: ServerProcess, api: ServedApi, display: str, tmp_path: Path
) -> None:
    desk = Workstation.added(shared_server.url, api, display, tmp_path)
    with desk.joined(screen="false"):
        for what in ("screenshot", "stream", "dimensions"):
            answer = api.call("GET", display_path(desk, what))
            assert (answer.status, answer.json["reason"]) == (503, "no_screen")
            assert "its owner lets nobody look" in answer.json["detail"]
        assert desk.send("mouse/move", x=1, y=1).status == 200


def rests(view: FakeView) -> bool:
    """Whether the view has taken nothing for some of its turns."""
    return boottime_seconds() - view.captured_at[-1] > 0.5


async def test_twenty_viewers_cost_the_machine_no_more_than_one(
    shared_server: ServerProcess, api: ServedApi, tmp_path: Path
) -> None:
    desk = await asyncio.to_thread(
        Workstation.added, shared_server.url, api, ":0", tmp_path / "state"
    )
    view = FakeView()
    costs = []
    async with machine_client(
        shared_server.url, tmp_path, token=desk.token, open_view=view.open, screen_rate=20
    ):
        await asyncio.to_thread(desk.is_in_state, "online")
        view.captured_at.clear()
        for viewers in (1, 20):
            async with contextlib.AsyncExitStack() as stack:
                streams = [
                    await stack.enter_async_context(watching(desk, "?rate=30"))
                    for _ in range(viewers)
                ]
                for stream in streams:
                    await next_part(stream)
                pictures: list[bytes] = []
                for colour in (50, 100, 150, 200):
                    view.colour = colour + viewers
                    seen = {(await next_part(stream)).content for stream in streams}
                    assert len(seen) == 1
                    pictures += seen
                assert len(set(pictures)) == 4
            await asyncio.to_thread(until, lambda: rests(view), "nobody looks any more")
            costs.append(sorted(view.captured_at))
            view.captured_at.clear()
    for captured_at in costs:
        pauses = [after - before for before, after in pairwise(captured_at)]
        # However many look, the screen is captured no more often than the machine's owner allows.
        assert sum(pauses) / len(pauses) > 0.9 / 20
