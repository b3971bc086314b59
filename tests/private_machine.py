"""A machine that shows one of two things in every way there is, and those who look at it."""

import asyncio
import random
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from websockets.exceptions import ConnectionClosed

from schemas.inputs.outcomes import Completed, Point
from schemas.link.clipboard_messages import ClipboardQuery, ClipboardRead
from schemas.link.element_messages import ElementsQuery, ElementsSeen
from schemas.link.messages import (
    ActionPicture,
    Capability,
    DesktopQuery,
    DesktopSeen,
    Display,
    Input,
    Interrupt,
    Interrupted,
    Look,
    LookStop,
    Screenshot,
    ScreenStart,
    ScreenStop,
    Seen,
    ServerMessage,
)
from schemas.link.picture_frames import PictureKind
from schemas.values.pictures import Region
from server.clock import server_time
from tests.nodes import until_reached
from tests.pictures import picture
from tests.screens import Desk
from tests.service import Reply, ScriptedLink, ScriptedMachine, Service, new_key
from tests.told_elements import element, telling

SECRET: Final = "secret"
OPEN: Final = "open"
SHADES: Final = {OPEN: 0, SECRET: 200}
PLACES: Final = {OPEN: 1, SECRET: 2}
GREETING: Final = telling().model_copy(update={"clipboard_read": Capability(available=True)})
CONTROL: Final = "/v1/machines/desk-1/control"
COMPUTER: Final = "/v1/computer/desk-1"

Headers = Mapping[str, str]


class PrivateMachine:
    """Plays the machine's end of a link: ``shows`` is in each of its answers, at their moment.

    ``delay`` is how many seconds each takes at most.
    """

    def __init__(self, service: Service, machine: ScriptedMachine, stack: AsyncExitStack) -> None:
        self.shows = OPEN
        self.delay = 0.0
        self.live: int | None = None
        self._service = service
        self._machine = machine
        self._stack = stack
        self._tasks: set[asyncio.Task[None]] = set()

    async def connect(self) -> None:
        """Come, or come back, and answer what is asked from then on."""
        connecting = self._machine.connected(GREETING)
        self._desk = Desk(
            *(self._service, self._machine), await self._stack.enter_async_context(connecting)
        )
        self.live = None
        self._begin(self._run(self._desk.link))

    async def close(self) -> None:
        """Answer nothing more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, link: ScriptedLink) -> None:
        with suppress(ConnectionClosed):
            while True:
                self._begin(self._answer(await link.next_message()))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def turn(self, shows: str) -> None:
        """Show something else from now on."""
        self.shows = shows
        if self.live is not None:
            await self._live()

    async def _live(self) -> None:
        content = picture("jpeg", shade=SHADES[self.shows])
        await self._desk.shows(content, number=self.live, captured_at=server_time())

    async def _answer(self, message: ServerMessage) -> None:
        link = self._desk.link
        match message:
            case Interrupt(request=request):
                await link.say(Interrupted(request=request))
            case ScreenStart(stream=stream):
                self.live = stream
                await self._live()
            case ScreenStop():
                self.live = None
            case Input(command_id=command_id):
                await link.acknowledge(command_id, _completed(message))
            case LookStop():
                pass
            case _:
                await asyncio.sleep(self.delay * random.random())
                await self._tell(message, link)

    async def _tell(self, message: ServerMessage, link: ScriptedLink) -> None:
        shows, place = self.shows, PLACES[self.shows]
        match message:
            case Screenshot(request=request, format=form):
                content = picture(form, shade=SHADES[shows])
                await self._picture(request, form, content)
            case ActionPicture(request=request):
                await self._picture(request, "png", picture("png", shade=SHADES[shows]))
            case DesktopQuery(request=request):
                displays = [Display(x=0, y=0, width=640, height=480)]
                pointer = Point(x=place, y=place)
                await link.say(DesktopSeen(request=request, displays=displays, pointer=pointer))
            case ElementsQuery(request=request):
                await link.say(ElementsSeen(request=request, elements=[element(name=shows)]))
            case Look(request=request):
                at = Region(place, place, 1, 1)
                await link.say(Seen(request=request, matched=0, at=at, elapsed=0.1))
            case ClipboardQuery(request=request):
                await link.say(ClipboardRead(request=request, text=shows))

    async def _picture(self, request: int, form: str, content: bytes) -> None:
        kind = {"kind": PictureKind.SCREENSHOT, "number": request, "form": form}
        await self._desk.shows(content, **kind, captured_at=server_time())


def _completed(message: Input) -> Completed:
    done = Completed(duration_ms=1.0, pointer=Point(x=0, y=0))
    actions = message.body.get("actions")
    if actions is None:
        return done
    results = [
        {"operation": each["operation"], "status": "completed", "duration_ms": 1.0}
        for each in actions
    ]
    return Completed.model_validate({**done.model_dump(), "actions": results})


@dataclass(frozen=True)
class Somebody:
    """Who asks a node: with a token, or as a browser that has signed in."""

    node: Service
    headers: Headers

    @property
    def token(self) -> str:
        """Their token, if they have one."""
        return self.headers.get("Authorization", "").removeprefix("Bearer ")

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        """Send a request."""
        sent = {**self.headers, **headers}
        return await self.node.request(method, path, body, token=None, headers=sent)

    def at(self, node: Service) -> "Somebody":
        """The same one, who asks another node."""
        return Somebody(node, self.headers)

    async def takes(self, **body: Any) -> str:
        """Take control; the lease's id."""
        reply = await self.ask("POST", CONTROL, body)
        assert reply.status == 201, reply.body
        return str(reply.json["id"])

    async def makes_private(self, lease: str, *, private: bool = True) -> None:
        """Have control be private, or open, from then on."""
        reply = await self.ask("PATCH", f"{CONTROL}/{lease}", {"private": private})
        assert (reply.status, reply.json.get("private")) == (200, private), reply.body

    async def gives_back(self, lease: str) -> None:
        """Give control back."""
        assert (await self.ask("DELETE", f"{CONTROL}/{lease}")).status == 204


def with_token(node: Service, token: str) -> Somebody:
    """A program."""
    return Somebody(node, {"Authorization": f"Bearer {token}"})


@asynccontextmanager
async def private_machine(nodes: list[Service]) -> AsyncIterator[PrivateMachine]:
    """The machine, linked to the first of two nodes, which the second reaches."""
    here, there = nodes
    machine = await here.new_machine()
    async with AsyncExitStack() as stack:
        played = PrivateMachine(here, machine, stack)
        await played.connect()
        await until_reached(there, machine)
        try:
            yield played
        finally:
            await played.close()


def _shown(content: bytes) -> str:
    for what, shade in SHADES.items():
        if any(content == picture(form, shade=shade) for form in ("png", "jpeg")):
            return what
    raise AssertionError("no picture of this machine")


def _placed(x: int) -> str:
    return next(what for what, place in PLACES.items() if place == x)


def _why(reply: Reply) -> str:
    """Why nothing was shown; checks what goes with the reason."""
    assert reply.refusal == (503, "machine-unavailable"), reply.body
    reason = str(reply.json["reason"])
    if reason == "private":
        assert reply.json["by"]
        assert reply.json["since"]
        assert int(reply.headers["Retry-After"]) > 0
    return reason


async def _asked(
    who: Somebody, method: str, path: str, seen: Callable[[Reply], str], body: Any = None
) -> str:
    reply = await who.ask(method, COMPUTER + path, body)
    return seen(reply) if reply.status == 200 else _why(reply)


async def seen_in_batch(who: Somebody, lease: str = "") -> str:
    """What a picture shows that is taken among several actions, or why they were refused."""
    actions = [{"operation": "wait", "seconds": 0.01}, {"operation": "screenshot"}]
    headers = {"Idempotency-Key": new_key(), **({"Farhand-Control": lease} if lease else {})}
    reply = await who.ask("POST", f"{COMPUTER}/actions", {"actions": actions}, **headers)
    if reply.status != 200:
        return _why(reply)
    return _shown_in(reply.json["actions"][1]["picture"])


def _shown_in(told: Mapping[str, Any]) -> str:
    if "left_out" in told:
        return "private" if "private control" in told["left_out"] else told["left_out"]
    return _shown(b64decode(told["content"]))


WAYS: Final[Mapping[str, Callable[[Somebody], Awaitable[str]]]] = {
    "screenshot": lambda who: _asked(
        who, "GET", "/display/screenshot", lambda reply: _shown(reply.body)
    ),
    "thumbnail": lambda who: _asked(
        who, "GET", "/display/screenshot?width=320&format=jpeg", lambda reply: _shown(reply.body)
    ),
    "pointer": lambda who: _asked(
        who, "GET", "/input/mouse/position", lambda reply: _placed(reply.json["x"])
    ),
    "elements": lambda who: _asked(
        who, "GET", "/elements", lambda reply: str(reply.json["items"][0]["name"])
    ),
    "elements at a place": lambda who: _asked(
        who, "GET", "/elements?at=1,1", lambda reply: str(reply.json["items"][0]["name"])
    ),
    "clipboard": lambda who: _asked(
        who, "GET", "/clipboard", lambda reply: str(reply.json["text"])
    ),
    "wait": lambda who: _asked(
        *(who, "POST", "/wait", lambda reply: _placed(reply.json["at"]["x"])),
        {"any": [{"changed": True}], "timeout": 60},
    ),
    "wait for an element": lambda who: _asked(
        *(who, "POST", "/wait", lambda reply: _placed(reply.json["at"]["x"])),
        {"any": [{"element": {"name": "secret"}}], "timeout": 60},
    ),
    "picture after a wait": lambda who: _asked(
        *(who, "POST", "/wait", lambda reply: _shown_in(reply.json["screenshot"])),
        {"any": [{"changed": True}], "timeout": 60, "screenshot": {"format": "png"}},
    ),
}
"""Every way to see something over HTTP at once."""
