"""A hand on real parts: what it does is what the X server sees, and what it held is let go."""

import asyncio
import itertools
import math
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.desktop import Terminal, Witness
from tests.end_to_end.system import Workstation, presses
from tests.hand_client import HandClient, button, hand_path, key, move, stroke, wheel
from tests.held import NOTHING, Held, held_on
from tests.processes import until

Point = tuple[int, int]

SQUARE: list[Point] = [
    *((100 + step, 100) for step in range(0, 301, 5)),
    *((400, 100 + step) for step in range(0, 301, 5)),
    *((400 - step, 400) for step in range(0, 301, 5)),
    *((100, 400 - step) for step in range(0, 301, 5)),
]
CIRCLE: list[Point] = [
    (
        round(640 + 200 * math.cos(turn / 60 * math.pi)),
        round(400 + 200 * math.sin(turn / 60 * math.pi)),
    )
    for turn in range(121)
]
SIGNATURE: list[Point] = [
    (200 + 3 * step, round(300 + 90 * math.sin(step / 4) * math.cos(step / 11)))
    for step in range(200)
]

TEXT = ("The quick brown Fox, jumps: over THE lazy dog! 0123456789 (42%) ~/x_y 'q' " * 3)[:200]


def lease_of(desk: Workstation) -> str:
    taken = desk.api.call("POST", f"/v1/machines/{desk.machine}/control", {"take_over": True})
    assert taken.status == 201, taken.body
    return str(taken.json["id"])


@asynccontextmanager
async def hand_on(desk: Workstation) -> AsyncIterator[HandClient]:
    path = hand_path(desk.machine, lease_of(desk))
    async with HandClient.on(desk.url, path, desk.api.token) as hand:
        yield hand


def with_hand(desk: Workstation, work: Callable[[HandClient], Coroutine[Any, Any, None]]) -> None:
    """Do something with a hand, which is gone after it."""

    async def run() -> None:
        async with hand_on(desk) as hand:
            await work(hand)

    asyncio.run(run())


def distance(point: Point, begin: Point, end: Point) -> float:
    """How far a point is from a straight line between two others."""
    along = (end[0] - begin[0], end[1] - begin[1])
    length = along[0] ** 2 + along[1] ** 2
    offset = (point[0] - begin[0], point[1] - begin[1])
    part = (offset[0] * along[0] + offset[1] * along[1]) / length if length else 0.0
    part = min(max(part, 0.0), 1.0)
    return math.dist(point, (begin[0] + part * along[0], begin[1] + part * along[1]))


def furthest(points: list[Point], path: list[Point]) -> float:
    """How far the furthest of some points is from a path."""
    return max(
        min(distance(point, begin, end) for begin, end in itertools.pairwise(path))
        for point in points
    )


@pytest.mark.parametrize(
    "drawn", [SQUARE, CIRCLE, SIGNATURE], ids=["square", "circle", "signature"]
)
def test_what_is_drawn_arrives_with_every_corner(
    desk: Workstation, witness: Witness, drawn: list[Point]
) -> None:
    async def draw(hand: HandClient) -> None:
        await hand.does(move(*drawn[0]), button(True, x=drawn[0][0], y=drawn[0][1]))
        # As a browser tells it: some places of the mouse with each picture.
        for begin in range(1, len(drawn), 7):
            await hand.does(*(move(*point) for point in drawn[begin : begin + 7]))
        await hand.does(button(False))
        await hand.until_acknowledged()

    with_hand(desk, draw)
    events = witness.take()
    assert presses(events) == ["ButtonPress 1", "ButtonRelease 1"]
    pressed = next(i for i, event in enumerate(events) if event.kind == "ButtonPress")
    passed = [(event.x, event.y) for event in events[pressed:]]
    assert furthest(passed, drawn) <= 3
    assert furthest(drawn, passed) <= 3
    assert events[-1].kind == "ButtonRelease"
    assert (events[-1].x, events[-1].y) == drawn[-1]


def test_two_hundred_characters_at_sixty_a_second_arrive_exactly(
    desk: Workstation, tmp_path: Path
) -> None:
    async def type_it(hand: HandClient) -> None:
        clock = asyncio.get_running_loop().time
        began_at = clock()
        names = [{" ": "space", "+": "plus"}.get(character, character) for character in TEXT]
        for number, name in enumerate(names):
            await asyncio.sleep(max(0.0, began_at + number / 60 - clock()))
            # As people type: a key goes down before the one before it is up.
            before = [key(names[number - 1], False)] if number else []
            await hand.does(key(name, True), *before)
        await hand.does(key(names[-1], False), *stroke("enter"))
        await hand.until_acknowledged()

    with Terminal.open(desk.display, tmp_path) as terminal:
        with_hand(desk, type_it)
        assert terminal.typed_before("\r") == TEXT


def test_all_is_in_order_with_held_modifiers(desk: Workstation, witness: Witness) -> None:
    async def work(hand: HandClient) -> None:
        await hand.does(
            *(move(300, 300), key("ctrl", True), key("shift", True), button(True), button(False)),
            *(key("shift", False), wheel("down", 2), key("ctrl", False)),
            *(button(True, "right"), button(False, "right")),
        )
        await hand.until_acknowledged()

    with_hand(desk, work)
    events = [event for event in witness.take() if event.kind != "MotionNotify"]
    keys = [event.detail for event in events if event.kind == "KeyPress"]
    ctrl, shift = keys
    assert [str(event) for event in events] == [
        f"KeyPress {ctrl}",
        f"KeyPress {shift}",
        "ButtonPress 1",
        "ButtonRelease 1",
        f"KeyRelease {shift}",
        *("ButtonPress 5", "ButtonRelease 5") * 2,
        f"KeyRelease {ctrl}",
        "ButtonPress 3",
        "ButtonRelease 3",
    ]


def test_long_press_lasts_and_what_is_held_is_released_when_the_hand_goes(
    desk: Workstation, witness: Witness
) -> None:
    async def hold(hand: HandClient) -> None:
        await hand.does(move(200, 200), button(True), key("shift", True), key("Q", True))
        await hand.until_acknowledged()
        held = held_on(desk.display)
        assert held.buttons == {1}
        assert len(held.keycodes) == 2
        await asyncio.sleep(0.3)
        assert held_on(desk.display) == held
        hand.websocket.transport.abort()

    with_hand(desk, hold)
    until(lambda: held_on(desk.display) == NOTHING, "everything is released")
    assert presses(witness.take())[-1] == "ButtonRelease 1"


def test_hand_whose_lease_ends_is_closed_and_lets_go(desk: Workstation) -> None:
    control = f"/v1/machines/{desk.machine}/control"

    async def lose(hand: HandClient) -> None:
        await hand.does(button(True), key("ctrl", True))
        await hand.until_acknowledged()
        assert held_on(desk.display) != Held()
        assert desk.api.call("POST", control, {"take_over": True}).status == 201
        # Taking it over has released everything, before anybody closes the websocket.
        assert held_on(desk.display) == NOTHING
        await hand.says({"sequence": hand.sequence + 1, "events": [button(True)]})
        code, reason = await hand.closed()
        assert (code, "lease is over" in reason) == (4501, True)
        assert held_on(desk.display) == NOTHING

    with_hand(desk, lose)
