"""HTTP clients: they send an input, and again under the same key, until the answer is final."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID, uuid5

from schemas.inputs.bodies import AnyInput
from server.store.errors import StoreUnavailable
from tests.simulation.faults import FAULTS_END, LONGEST_AFTERMATH
from tests.simulation.network import latency
from tests.simulation.node import Answered, Node
from tests.simulation.world import Process, World

T = TypeVar("T")

Caller = Callable[[], Coroutine[object, object, None]]

REUSED = "idempotency_key_reused"

LOSING_ENDS = FAULTS_END + LONGEST_AFTERMATH
"""When the last answer is lost, in seconds: as every other fault, so that all can become final."""


@dataclass
class KeyHistory:
    """One key, or one input without any, and all that was said of it in its present life.

    ``marks`` are the inputs that were sent under it: more than one where bodies were changed.
    """

    key: str | None
    machine_id: str
    bodies: dict[int, AnyInput]
    timeout: float
    command_id: UUID | None = None
    answers: list[Answered] = field(default_factory=list)
    answered_bodies: set[int] = field(default_factory=set)
    earlier: list[tuple[int, bytes]] = field(default_factory=list)
    """The status and the body of the final answers of earlier lives of the key."""

    @classmethod
    def of_key(
        cls,
        organization_id: UUID,
        key: str,
        machine_id: str,
        bodies: dict[int, AnyInput],
        timeout: float,
    ) -> "KeyHistory":
        """The history of a key, before its first request."""
        return cls(key, machine_id, bodies, timeout, uuid5(organization_id, key))


class Callers:
    """All HTTP clients, in a process that nothing happens to."""

    def __init__(self, world: World, nodes: list[Node], *, losing: float) -> None:
        self.world = world
        self.process = Process(world, "callers")
        self._nodes = nodes
        self._losing = losing
        self._left = 0

    @property
    def are_done(self) -> bool:
        """Whether every caller has what it wanted."""
        return self._left == 0

    def start(self, caller: Caller, after: float) -> None:
        """Have a caller begin."""
        self._left += 1
        self.process.call_later(after, self._begin, caller)

    def _begin(self, caller: Caller) -> None:
        self.process.create_task(self._counted(caller))

    async def _counted(self, caller: Caller) -> None:
        await caller()
        self._left -= 1

    async def pursue(self, history: KeyHistory, mark: int, asks_again: int) -> None:
        """Ask until the answer is final, and then some more times."""
        world = self.world
        for _ in range(1 + asks_again):
            has_final = False
            while not has_final:
                has_final = await self._has_final(history, mark)
                await asyncio.sleep(world.between(0.1, 1.5))
            await asyncio.sleep(world.between(0, 4))

    async def send_once(self, history: KeyHistory, mark: int) -> None:
        """Send an input without a key, and look for its end where it is not answered."""
        answered, command_id = await self._ask(history, mark)
        history.command_id = command_id
        if answered is not None and answered.is_final:
            history.answers.append(answered)
        elif answered is not None and answered.name == "outcome-pending":
            for _ in range(3):
                await asyncio.sleep(self.world.between(0.5, 3))
                await self._look(command_id)

    async def pause(self, machine_id: str, seconds: float) -> None:
        """Pause a machine for a while, as an operator does, and resume it."""
        await self._set_paused(machine_id, paused=True)
        self.world.paused.add(machine_id)
        self.world.faults["paused by an operator"] += 1
        await asyncio.sleep(seconds)
        self.world.paused.discard(machine_id)
        await self._set_paused(machine_id, paused=False)
        self.world.calm_at = max(self.world.calm_at, self.world.now)

    async def _set_paused(self, machine_id: str, *, paused: bool) -> None:
        """Tell every node, as often as it takes: which of them has the link may change."""
        change = self.world.number()
        for node in self._nodes:

            def work(node: Node = node) -> Coroutine[object, object, bool]:
                return node.pause(machine_id, paused, change)

            while not await self._from(node, work, 6.0):  # noqa: ASYNC110  a node that is away
                await asyncio.sleep(0.2)

    async def _has_final(self, history: KeyHistory, mark: int) -> bool:
        if history.command_id is not None and self.world.chance(0.1):
            await self._look(history.command_id)
        answered, _ = await self._ask(history, mark)
        if answered is None:
            return False
        if answered.name == REUSED:
            if mark in history.answered_bodies:
                self.world.violated(f"key {history.key} was its own, and then is another's")
            return True
        if answered.is_final:
            history.answers.append(answered)
            if REUSED.encode() not in answered.body:
                history.answered_bodies.add(mark)
        elif answered.status < 500 and answered.status not in (409, 429):
            self.world.violated(f"key {history.key} got {answered}")
        return answered.is_final

    async def _ask(self, history: KeyHistory, mark: int) -> tuple[Answered | None, UUID | None]:
        """One request to some node; None where no answer comes."""
        node = self.world.random.choice(self._nodes)
        body = history.bodies[mark]

        patience = self.world.between(0.5, history.timeout + 3)
        got = await self._from(
            node,
            lambda: node.answer(history.machine_id, body, history.key, history.timeout),
            patience,
        )
        self.world.trace("ask", mark, history.key, node.name, got)
        return (None, None) if got is None else got

    async def _look(self, command_id: UUID | None) -> None:
        if command_id is not None:
            node = self.world.random.choice(self._nodes)
            await self._from(node, lambda: _looked(node, command_id), 6.0)

    async def _from(
        self, node: Node, work: Callable[[], Coroutine[object, object, T]], patience: float
    ) -> T | None:
        """What a node returns, over a network that may lose it."""
        world = self.world
        answer: asyncio.Future[T | None] = self.process.create_future()
        number = world.number()
        process, requests = node.process, node.requests
        if process.is_dead:
            await asyncio.sleep(0.01)
            return None

        def hang_up() -> None:
            self.process.call_later(latency(world), settle, None)

        def settle(result: Any) -> None:
            if not answer.done():
                answer.set_result(result)

        async def serve() -> None:
            result = await work()
            requests.pop(number, None)
            is_lost = world.chance(self._losing) and world.now < LOSING_ENDS
            if not is_lost:
                self.process.call_later(latency(world), settle, result)

        def arrive() -> None:
            node.background.start_and_report(serve(), f"request {number}")

        requests[number] = hang_up
        process.call_later(latency(world), arrive)
        await asyncio.wait((answer,), timeout=patience)
        if not answer.done():
            answer.set_result(None)
        return answer.result()


async def _looked(node: Node, command_id: UUID) -> bool:
    try:
        return await node.look(command_id) is not None
    except StoreUnavailable:
        return False
