"""Does a workflow on a form as a program does it, or as a hand, while it is recorded."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol

from tests.finding.desk import Desk, Form
from tests.finding.scenario import Scenario
from tests.finding.workflows import RECORDED, Click, Drag, Keys, Move, ScrollTo, Type, named
from tests.hand_client import HandClient, button, hand_path, move, stroke, wheel

REST_SECONDS: Final = 0.5
"""For which a hand's pointer rests on its target before it presses: a picture is taken then."""

BETWEEN_TURNS: Final = 0.1

TURNS: Final = 3
"""Of the wheel at once."""

MOST_TURNS: Final = 40

Place = tuple[int, int]


class Doer(Protocol):
    """Whoever does what a workflow says; ``turns_at_once`` is whether the wheel turns on and on."""

    turns_at_once: bool

    async def click(self, at: Place, name: str, clicks: int) -> None:
        """Click so often."""

    async def type(self, text: str) -> None:
        """Type a text."""

    async def press(self, keys: str) -> None:
        """Press a combination."""

    async def drag(self, start: Place, end: Place) -> None:
        """Drag from one place to another."""

    async def turn(self, at: Place) -> None:
        """Turn the wheel."""


class Program:
    """A program, by the API; its pointer goes straight to each place."""

    turns_at_once = False

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def click(self, at: Place, name: str, clicks: int) -> None:
        """Click so often."""
        body: dict[str, Any] = {"x": at[0], "y": at[1]}
        if name != "left":
            body["button"] = name
        if clicks > 1:
            body["clicks"] = clicks
        await self._send("mouse/click", body)

    async def type(self, text: str) -> None:
        """Type a text."""
        await self._send("keyboard/type", {"text": text})

    async def press(self, keys: str) -> None:
        """Press a combination."""
        await self._send("keyboard/key", {"text": keys})

    async def drag(self, start: Place, end: Place) -> None:
        """Drag from one place to another."""
        places = {"start_x": start[0], "start_y": start[1], "to_x": end[0], "to_y": end[1]}
        await self._send("mouse/drag", {**places, "duration": 0.5})

    async def turn(self, at: Place) -> None:
        """Turn the wheel."""
        body = {"x": at[0], "y": at[1], "direction": "down", "amount": TURNS}
        await self._send("mouse/scroll", body)

    async def _send(self, operation: str, body: dict[str, Any]) -> None:
        reply = await self._desk.service.post(self._desk.machine.input_path(operation), body)
        assert reply.status == 200, reply.body


class Person:
    """A hand in the console, whose pointer comes, rests on its target, and presses."""

    turns_at_once = True

    def __init__(self, desk: Desk, hand: HandClient, lease: str) -> None:
        self._desk = desk
        self._hand = hand
        self._lease = lease
        self._at: Place | None = None

    async def click(self, at: Place, name: str, clicks: int) -> None:
        """Click so often."""
        await self._come(at)
        place = {"x": at[0], "y": at[1]}
        for _ in range(clicks):
            await self._do(button(True, name, **place), button(False, name, **place))

    async def type(self, text: str) -> None:
        """Type a text."""
        for each in text:
            await self._do({"type": "text", "text": each})
            await asyncio.sleep(0.02)

    async def press(self, keys: str) -> None:
        """Press a combination."""
        *held, last = keys.split("+")
        down = [{"type": "key", "key": each, "down": True} for each in held]
        up = [{"type": "key", "key": each, "down": False} for each in reversed(held)]
        await self._do(*down, *stroke(last), *up)

    async def drag(self, start: Place, end: Place) -> None:
        """Drag from one place to another."""
        await self._come(start)
        await self._do(button(True, x=start[0], y=start[1]))
        for part in (0.25, 0.5, 0.75, 1):
            await asyncio.sleep(0.1)
            across, down = (round(a + (b - a) * part) for a, b in zip(start, end, strict=True))
            await self._do(move(across, down))
        await self._do(button(False, x=end[0], y=end[1]))

    async def turn(self, at: Place) -> None:
        """Turn the wheel."""
        if at != self._at:
            await self._come(at)
        await self._do(wheel("down", TURNS))

    async def _come(self, at: Place) -> None:
        reply = await self._desk.service.request("PUT", self._lease)
        assert reply.status == 200, reply.body
        self._at = at
        await self._do(move(*at))
        await asyncio.sleep(REST_SECONDS)

    async def _do(self, *events: dict[str, Any]) -> None:
        await self._hand.does(*events)
        await self._hand.until_acknowledged()


@asynccontextmanager
async def doing(desk: Desk, *, by_hand: bool) -> AsyncIterator[Doer]:
    """Whoever does it."""
    if not by_hand:
        yield Program(desk)
        return
    path = f"/v1/machines/{desk.machine_id}/control"
    reply = await desk.service.post(path)
    lease = reply.json["id"]
    try:
        on = hand_path(desk.machine_id, lease)
        async with HandClient.on(desk.service.url, on, desk.service.token) as hand:
            yield Person(desk, hand, f"{path}/{lease}")
    finally:
        await desk.service.request("DELETE", f"{path}/{lease}")


async def do(doer: Doer, form: Form, scenario: Scenario, doing_it: Move, pause: float) -> None:
    """Do one of a workflow's moves, and wait as a person would."""

    async def at(name: str) -> Place:
        return await form.place(named(name, scenario))

    match doing_it:
        case Click(on=on, button=name, clicks=clicks):
            await doer.click(await at(on), name, clicks)
        case Type(parameter=parameter):
            await doer.type(RECORDED[parameter])
        case Keys(keys=keys):
            await doer.press(keys)
        case Drag(start=start, end=end):
            await doer.drag(await at(start), await at(end))
        case ScrollTo(over=over, until=until):
            place = await at(over)
            for _ in range(MOST_TURNS):
                await doer.turn(place)
                await asyncio.sleep(BETWEEN_TURNS if doer.turns_at_once else pause)
                if await form.sees(named(until, scenario)):
                    break
    await asyncio.sleep(pause)
