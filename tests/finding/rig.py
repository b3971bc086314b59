"""A server in this process, a real machine on an X server of its own, and a form on that."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar
from uuid import UUID, uuid4

from schemas.inputs.bodies import INPUT_BODIES, Operation
from schemas.steps.step import Step
from server.dispatch.command import Ended, Sender
from server.dispatch.questions.question import Question, Refusal
from server.dispatch.refusals import RefusedError
from tests.machine_client.desktop.accessibility.rig import (
    AccessibleDesktop,
    Program,
    accessible_desktop,
)
from tests.processes import joined
from tests.service import ScriptedMachine, Service
from tests.waiting import WAIT_SECONDS, until

R = TypeVar("R")

FORM: Final = str(Path(__file__).with_name("orders_form.py"))
TITLE: Final = "Orders of May"
ORDERS: Final = "4711,4712,4713"

SEEN_SECONDS: Final = 0.8
"""By then the elements that there are before an input were mostly told; else it is done again."""


@dataclass
class Desk:
    """The machine, as a run has it, and what is on its screen."""

    service: Service
    machine: ScriptedMachine
    desktop: AccessibleDesktop
    form: Program
    asked: list[tuple[str, float]] = field(default_factory=list)

    @property
    def organization_id(self) -> UUID:
        return self.service.organization_id

    @property
    def machine_id(self) -> str:
        return self.machine.machine_id

    async def ask(self, question: Question[R]) -> R | Refusal:
        began = time.perf_counter()
        reply = await self.service.server.services.machines.dispatcher.ask(question)
        self.asked.append((type(question).__name__, time.perf_counter() - began))
        return reply

    async def recorded(self, picture_id: str) -> bytes | None:
        pictures = self.service.server.services.library.pictures
        found = await pictures.get(self.organization_id, picture_id)
        return None if found is None else found[1]

    async def carried_out(self, operation: str, body: dict[str, Any]) -> str:
        """Send an input; how that ended, by its status and its code."""
        services = self.service.server.services
        sender = Sender(self.organization_id, uuid4(), "run", "a request")
        checked = INPUT_BODIES[Operation(operation)].model_validate(body)
        reply = await services.machines.dispatcher.ask(
            services.machines.dispatcher.accept(sender, self.machine_id, checked)
        )
        if isinstance(reply, Refusal):
            raise RefusedError(reply)
        assert isinstance(reply, Ended)
        return reply.outcome.status

    async def tell(self, *words: object) -> list[str]:
        """Have the form change; what was entered until it had."""
        said = await asyncio.to_thread(self.form.tell, *words)
        return [each.removeprefix("entered ") for each in said]

    async def place(self, role: str, row: str | None = None) -> tuple[int, int]:
        """Where something of the form is: of an order's line, or the first with that name."""
        query = f"/v1/computer/{self.machine_id}/elements?window={TITLE.replace(' ', '%20')}"
        while True:
            items = (await self.service.get(query)).json["items"]
            if all(each["bounds"] is not None for each in items):
                break  # A window that has just changed its size has no sure place for a moment.
        if row is None:
            bounds = next(each["bounds"] for each in items if role in (each["name"], each["role"]))
        else:
            top = next(each["bounds"]["y"] for each in items if each["name"] == row)
            like = [each for each in items if role in (each["name"], each["role"])]
            bounds = min(like, key=lambda each: abs(each["bounds"]["y"] - top))["bounds"]
        return bounds["x"] + bounds["width"] // 2, bounds["y"] + bounds["height"] // 2

    async def record(self, operation: str, body: dict[str, Any]) -> Step:
        """An input as a real recording has it, once that knew what was there before."""
        reply = await self.service.post(
            f"/v1/machines/{self.machine_id}/recordings", {"keep_texts": True}
        )
        assert reply.status == 201, reply.body
        recording = reply.json
        path = f"/v1/trajectories/{recording['trajectory_id']}"
        deadline = time.monotonic() + WAIT_SECONDS
        step: dict[str, Any] = {}
        while "around" not in (step.get("target") or {}):
            assert time.monotonic() < deadline, f"nothing was seen around it: {step}"
            if operation.startswith("mouse."):
                # A pointer on the target would be in its picture.
                await self.carried_out("mouse.move", {"x": 1279, "y": 799})
            await asyncio.sleep(SEEN_SECONDS)
            sent = await self.service.post(
                self.machine.input_path(operation.replace(".", "/")), body
            )
            assert sent.status == 200, sent.body
            await asyncio.sleep(SEEN_SECONDS)
            steps = (await self.service.get(path)).json["trajectory_data"]
            step = steps[-1] if steps else {}
        await self.service.post(f"/v1/recordings/{recording['id']}/stop")
        return Step.model_validate(step)


@asynccontextmanager
async def desk(
    service: Service, directory: Path, *, screen: str = "1280x800x24"
) -> AsyncIterator[Desk]:
    """A machine with the form on its screen, connected."""
    async with AsyncExitStack() as ending:
        stack = ending.enter_context(_in_threads())
        machine = await service.new_machine("desk-1")
        desktop = await asyncio.to_thread(stack.enter_context, accessible_desktop(screen))
        form = await asyncio.to_thread(
            stack.enter_context, desktop.shown(FORM, ORDERS, TITLE, {"GTK_THEME": ""})
        )
        client = joined(
            service.url, machine.token, directory, desktop.display, heartbeat="1", wait=False
        )
        await asyncio.to_thread(stack.enter_context, client)
        await machine.until_live()
        await until(
            lambda: (link := service.link_of("desk-1")) and not link.desktop.why_no_elements
        )
        yield Desk(service, machine, desktop, form)
        await asyncio.to_thread(stack.close)


def _in_threads() -> ExitStack:
    """What is entered in threads, as the server runs in this one."""
    return ExitStack()
