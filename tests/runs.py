"""Approved trajectories for tests of runs, and runs of them on machines that tests play."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import uuid4

from schemas.inputs.outcomes import Failed, NotCarriedOut, Outcome
from schemas.link.element_messages import ElementsQuery, ElementsSeen, SeenElement
from schemas.link.messages import Hello, Input, Interrupt, Interrupted, Resolve
from schemas.resources.tokens import Scope
from schemas.values.pictures import Region
from server.dispatch.here.neighbours import is_like
from tests.service import PATIENCE_SECONDS, ScriptedLink, ScriptedMachine, Service


def steps(*texts: str) -> list[dict[str, Any]]:
    """Steps that press these keys, one after another."""
    return [{"operation": "keyboard.key", "body": {"text": text}} for text in texts]


async def approved(service: Service, data: Any, *, is_main: bool = False) -> Any:
    """An approved trajectory with these steps, of a workflow of its own."""
    workflow = (await service.post("/v1/workflows", {"name": "of a test"})).json
    body = {
        "workflow_id": workflow["id"],
        "dimensions": {"width": 1280, "height": 800},
        "trajectory_data": data,
    }
    made = (await service.post("/v1/trajectories", body)).json
    path = f"/v1/trajectories/{made['id']}"
    await approve(service, path)
    if is_main:
        changed = await service.request("PATCH", path, {"is_main": True})
        assert changed.status == 200, changed.body
    return (await service.get(path)).json


async def approve(service: Service, path: str) -> None:
    """Approve a trajectory as it is, by somebody else than who made it."""
    reviewer = await service.new_token(
        Scope.TRAJECTORIES_READ, Scope.TRAJECTORIES_APPROVE, user_id=uuid4()
    )
    content = (await service.get(path)).json["content_hash"]
    body = {"decision": "approve", "content_hash": content}
    reply = await service.post(f"{path}/review", body, token=reviewer)
    assert reply.status == 200, reply.body


async def begun(service: Service, trajectory: Any, **fields: Any) -> Any:
    """A new run of a trajectory, on desk-1 unless told otherwise."""
    if "pool_ids" not in fields:
        fields = {"machine_id": "desk-1", **fields}
    reply = await service.post("/v1/runs", {"trajectory_id": trajectory["id"], **fields})
    assert reply.status == 201, reply.body
    return reply.json


async def run_of(service: Service, run: Any) -> Any:
    """How a run is now."""
    return (await service.get(f"/v1/runs/{run['id']}")).json


async def until_run(service: Service, run: Any, is_so: Callable[[Any], Any]) -> Any:
    """The run once it is so."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            if is_so(found := await run_of(service, run)):
                return found
            await asyncio.sleep(0.02)


async def until_ended(service: Service, run: Any) -> Any:
    """The run once it has ended."""
    return await until_run(service, run, lambda found: found["ended_at"])


async def until_halted(service: Service, run: Any) -> Any:
    """The run once it is halted."""
    return await until_run(service, run, lambda found: found["halted"] or found["ended_at"])


class Player:
    """A machine that does what it is asked, until the test says otherwise.

    ``pressed`` is what it was to press, in order.  While it ``withholds``, it carries out nothing:
    what came is in ``waiting``.  It tells of these ``elements``, if its greeting says that it may.
    """

    def __init__(self, link: ScriptedLink) -> None:
        self.link = link
        self.pressed: list[Any] = []
        self.elements: list[SeenElement] = []
        self.waiting: list[Input] = []
        self.outcomes: list[Outcome | None] = []
        self.withholds = False
        self.interrupted = 0

    async def play(self) -> None:
        """Answer all that comes, for ever."""
        while True:
            message = await self.link.next_message()
            match message:
                case Interrupt():
                    self.interrupted += 1
                    await self._end_what_waits()
                    await self.link.say(Interrupted(request=message.request))
                case ElementsQuery():
                    there = [each for each in self.elements if _is_asked_for(each, message)]
                    found = there[: message.limit]
                    await self.link.say(ElementsSeen(request=message.request, elements=found))
                case Input():
                    self.pressed.append(message.body.get("text", message.body))
                    self.waiting.append(message)
                    if not self.withholds:
                        await self.carry_on()
                case Resolve():
                    await self.link.report(message.command_id, NotCarriedOut())

    async def carry_on(self) -> None:
        """Carry out what waits."""
        while self.waiting:
            outcome = self.outcomes.pop(0) if self.outcomes else None
            await self.link.acknowledge(self.waiting.pop(0).command_id, outcome)

    async def _end_what_waits(self) -> None:
        while self.waiting:
            failed = Failed(code="interrupted", message="it was interrupted", injected_at_least=1)
            await self.link.acknowledge(self.waiting.pop(0).command_id, failed)


def _is_asked_for(element: SeenElement, query: ElementsQuery) -> bool:
    bounds, at = element.bounds, query.at
    if at is not None and (bounds is None or not _has(bounds, at.x, at.y)):
        return False
    return is_like(element, query.sought)


def _has(bounds: Region, x: int, y: int) -> bool:
    return 0 <= x - bounds.x < bounds.width and 0 <= y - bounds.y < bounds.height


@asynccontextmanager
async def playing(
    service: Service, machine: ScriptedMachine, greeting: Hello | None = None
) -> AsyncIterator[Player]:
    """A machine that is connected and does what it is asked."""
    async with machine.connected(greeting) as link:
        player = Player(link)
        task = service.server.services.background.start(player.play(), "a machine of the test")
        try:
            yield player
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
