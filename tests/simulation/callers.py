"""HTTP clients: they send an input, and again under the same key, until the answer is final."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar
from uuid import UUID, uuid5

from schemas.http.problems import MACHINE_BUSY, MACHINE_UNAVAILABLE
from schemas.inputs.actions import Actions, AnyBody
from schemas.runs.requests import ContinuedRun
from server.dispatch.questions.inputs import KnownCommand
from server.dispatch.questions.question import Refusal
from server.dispatch.questions.screens import DesktopSeen
from server.errors import StoreUnavailable
from tests.simulation.desktop import Desktop
from tests.simulation.faults import FAULTS_END, LONGEST_AFTERMATH
from tests.simulation.hands import (
    FIRST_MARK,
    MARKS_OF_A_HAND,
    MOST_BATCHES,
    RELEASED_WITHIN,
    HandWork,
)
from tests.simulation.inputs import marks_of
from tests.simulation.network import latency
from tests.simulation.node import Answered, Node
from tests.simulation.onlookers import ANEW_SECONDS, WHERE_ONE_IS_ALONE
from tests.simulation.runs import SimulatedRun
from tests.simulation.world import Process, World

T = TypeVar("T")

Caller = Callable[[], Coroutine[object, object, None]]

REUSED = "idempotency_key_reused"

NOTHING_HAPPENED = (MACHINE_UNAVAILABLE.name, MACHINE_BUSY.name)
"""The problems that say so."""

LOOKS = 4
"""How often an input must not be found before nobody looks for it any more."""

HAND_PATIENCE = 5.0
CLOSES, VANISHES = 0.7, 0.3
"""How many end their websocket before they give control back, and how many of them silently."""

TRIES_TO_TAKE = 5
"""How often somebody asks for control who does not get it."""

LATE = 0.2
"""How often what somebody said of a run's halt comes once more at its next one."""

PAUSE_PATIENCE = 15.0
"""Seconds that an operator waits; a node that tells another one's link takes its time."""

LOSING_ENDS = FAULTS_END + LONGEST_AFTERMATH
"""When the last answer is lost, in seconds: as every other fault, so that all can become final."""


class Looked(NamedTuple):
    """What a look-up said."""

    known: KnownCommand | None


@dataclass
class KeyHistory:
    """One key, or one input without any, and all that was said of it in its present life.

    ``bodies`` are the inputs that were sent under it, by their marks: more than one where bodies
    were changed.  ``under_way`` counts requests that are not over; ``may_have_happened`` is False
    for as long as each that is over was told that nothing happened.
    """

    key: str | None
    machine_id: str
    bodies: dict[int, AnyBody]
    timeout: float
    command_id: UUID | None = None
    under_way: int = 0
    may_have_happened: bool = False
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
        bodies: dict[int, AnyBody],
        timeout: float,
    ) -> "KeyHistory":
        """The history of a key, before its first request."""
        return cls(key, machine_id, bodies, timeout, uuid5(organization_id, key))

    @property
    def marks(self) -> list[int]:
        """The marks of all inputs that were sent under it."""
        return [
            each
            for mark, body in self.bodies.items()
            for each in (marks_of(body) if isinstance(body, Actions) else (mark,))
        ]

    @property
    def is_of_several(self) -> bool:
        """Whether what was sent are actions, each of which has its result."""
        return any(isinstance(body, Actions) for body in self.bodies.values())


class Callers:
    """All HTTP clients, in a process that nothing happens to."""

    def __init__(
        self,
        world: World,
        nodes: list[Node],
        desktop: Desktop,
        *,
        losing: float,
        by_hand: float,
    ) -> None:
        self.world = world
        self._desktop = desktop
        self.process = Process(world, "callers")
        self._nodes = nodes
        self._losing = losing
        self._by_hand = by_hand
        self.hands: list[HandWork] = []
        self.left = 0
        """How many have not what they want yet."""

    def start(self, caller: Caller, after: float) -> None:
        """Have a caller begin."""
        self.left += 1
        self.process.call_later(after, self._begin, caller)

    def _begin(self, caller: Caller) -> None:
        self.process.create_task(self._counted(caller))

    async def _counted(self, caller: Caller) -> None:
        await caller()
        self.left -= 1

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
            await self._look_until_final(command_id)

    async def pause(self, machine_id: str, seconds: float) -> None:
        """Pause a machine for a while, as an operator does, and resume it."""
        await self._set_paused(machine_id, paused=True)
        self.world.paused.add(machine_id)
        self.world.faults["paused by an operator"] += 1
        await asyncio.sleep(seconds)
        self.world.paused.discard(machine_id)
        await self._set_paused(machine_id, paused=False)
        self.world.calm_at = max(self.world.calm_at, self.world.now)

    async def work_by_hand(
        self, machine_id: str, seconds: float, *, private_after: float | None = None
    ) -> None:
        """Take control of a machine for a while, as a person does, and give it back.

        Until it is given back, nothing of a program may reach the desktop.  With ``private_after``
        it is private from its begin, or made so later, and nobody else may be shown anything.
        """
        world = self.world
        lease = await self._take_control(machine_id, private=private_after == 0)
        if lease is None:
            return
        world.facts["taken by a person"] += 1
        is_newest = world.given[machine_id] == lease
        if is_newest and not any(node.takes_over for node in self._nodes):
            world.controlled[machine_id] = lease
        world.must_be_released(machine_id)
        if private_after is not None:
            await self._hide(machine_id, lease, private_after)
        if world.hands.random() < self._by_hand:
            await self._use_hand(machine_id, lease, seconds)
        else:
            await asyncio.sleep(seconds)
        if world.controlled.get(machine_id) == lease:
            del world.controlled[machine_id]
        has_ended: bool | None = None
        while not has_ended:
            node = world.random.choice(self._nodes)
            give_back = partial(node.give_back, machine_id, lease)
            has_ended = await self._from(node, give_back, PAUSE_PATIENCE)
            await asyncio.sleep(0 if has_ended else 0.2)
        world.calm_at = max(world.calm_at, world.now)

    async def look_on(self, machine_id: str, seconds: float) -> None:
        """Look at a machine again and again, as somebody does who has no control."""
        world, dice = self.world, self.world.looks
        until = world.now + seconds
        while world.now < until:
            node = dice.choice(self._nodes)
            seen = await self._from(node, partial(node.see, machine_id), HAND_PATIENCE)
            match seen:
                case DesktopSeen(pointer=pointer):
                    world.facts["looks: shown"] += 1
                    if pointer == WHERE_ONE_IS_ALONE:
                        world.violated(f"what is private of {machine_id} is shown to somebody else")
                case Refusal(reason="private"):
                    world.facts["looks: private"] += 1
                case _:
                    world.facts["looks: in vain"] += 1
            await asyncio.sleep(dice.uniform(0, ANEW_SECONDS))

    async def look_after(self, run: SimulatedRun) -> None:
        """See a run to its end, or until it waits for days: where it is halted, say how it goes on.

        Some node is told, as often as it takes; and sometimes two are, or one once more at the next
        halt, as where an answer was lost or a request was late.
        """
        dice, said = self.world.runs, list[ContinuedRun]()
        while (stored := run.stored).ended_at is None:
            await asyncio.sleep(dice.uniform(0.1, 2))
            if stored.halted is None:
                continue
            if run.waits_days:
                if run.is_left_alone:
                    return
                continue
            if dice.random() < LATE and said and said[-1].halted_at != stored.halted.at:
                self.world.facts["runs: said once more, and too late"] += 1
                node = dice.choice(self._nodes)
                late = partial(node.resume, run.run_id, said[-1])
                if await self._from(node, late, HAND_PATIENCE):
                    self.world.violated("what was decided about an earlier halt is done")
                continue
            answer = run.answer(stored)
            said.append(answer)
            for _ in range(1 + (dice.random() < 0.2)):
                node = dice.choice(self._nodes)
                resume = partial(node.resume, run.run_id, answer)
                asked = self._from(node, resume, HAND_PATIENCE)
                if await asked:
                    self.world.facts["runs: went on after a halt"] += 1

    async def _hide(self, machine_id: str, lease: str, after: float) -> None:
        """Know that control is private, which it is from its begin, or made after some seconds."""
        is_private: bool | None = after == 0
        if not is_private:
            await asyncio.sleep(after)
            node = self.world.looks.choice(self._nodes)
            make = partial(node.make_private, machine_id, lease)
            is_private = await self._from(node, make, HAND_PATIENCE)
        if is_private and self.world.controlled.get(machine_id) == lease:
            self.world.facts["taken privately" if after == 0 else "made private"] += 1
            self.world.private.add(lease)

    async def _use_hand(self, machine_id: str, lease: str, seconds: float) -> None:
        """Do something by hand at some node; and end the websocket, or leave it open."""
        world, dice = self.world, self.world.hands
        first_mark = FIRST_MARK + MARKS_OF_A_HAND * len(self.hands)
        work = HandWork(world, self._desktop, self.process, machine_id, lease, first_mark, dice)
        self.hands.append(work)
        node, until = dice.choice(self._nodes), world.now + seconds
        process = node.process
        if not await self._from(node, partial(node.begin_hand, work), HAND_PATIENCE):
            work.leave(process, silently=True)
        while not (work.is_closed or work.is_refused) and len(work.sent) < MOST_BATCHES:
            work.send(process)
            await asyncio.sleep(dice.choice((0.0, 0.05, 0.4)))
        world.facts["batches sent by hand"] += len(work.sent)
        if not work.is_closed and dice.random() < CLOSES:
            work.leave(process, silently=dice.random() < VANISHES)
            await self._is_released(machine_id)
        await asyncio.sleep(max(0.0, until - world.now))

    async def _is_released(self, machine_id: str) -> None:
        """Where nothing at all is wrong, what a hand held is soon released when it is gone."""
        if self.world.faults.total():
            return
        await asyncio.sleep(RELEASED_WITHIN)
        if not self.world.faults.total():
            self.world.facts["hands seen to let go"] += 1
            self.world.hand_must_be_released(machine_id)

    async def _take_control(self, machine_id: str, *, private: bool = False) -> str | None:
        """Ask some nodes, one after another; None where none gives it."""
        for _ in range(TRIES_TO_TAKE):
            node = self.world.random.choice(self._nodes)
            take_over = self.world.chance(0.5)
            take = partial(node.take_control, machine_id, take_over=take_over, private=private)
            lease = await self._from(node, take, PAUSE_PATIENCE)
            if lease is not None:
                return lease
            await asyncio.sleep(self.world.between(0.2, 2))
        return None

    async def _set_paused(self, machine_id: str, *, paused: bool) -> None:
        """Tell some node, as often as it takes, and wait until it holds."""
        change = self.world.number()
        is_told = None
        had_old_link = self._has_old_link(machine_id)
        while is_told is None:
            node = self.world.random.choice(self._nodes)

            def work(node: Node = node) -> Coroutine[object, object, bool | None]:
                return node.pause(machine_id, paused, change)

            is_told = await self._from(node, work, PAUSE_PATIENCE)
            await asyncio.sleep(0.2 if is_told is None else 0)
        had_old_link = had_old_link or self._has_old_link(machine_id)
        if is_told and not had_old_link:
            self.world.facts["pauses told"] += 1
        else:
            self.world.facts["pauses found out"] += 1
            await self._until_all_have_looked()

    def _has_old_link(self, machine_id: str) -> bool:
        """Whether a node has a link that its machine has left: it may be the one that is told."""
        return any(
            link.machine_id == machine_id and link.is_up and connection.is_over
            for node in self._nodes
            for connection, link in node.connections.items()
        )

    async def _until_all_have_looked(self) -> None:
        """Wait until every node that lives has looked whom machines take inputs from.

        Twice: it may have begun the first look before.  Links that are begun later see it.
        """
        before = [(node, node.process, node.looks) for node in self._nodes]
        while any(  # noqa: ASYNC110  nobody tells
            node.process is process and not process.is_dead and node.looks < looks + 2
            for node, process, looks in before
        ):
            await asyncio.sleep(0.05)

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
        self.must_not_have_happened(history)
        history.under_way += 1
        patience = self.world.between(0.5, history.timeout + 3)
        got = await self._from(
            node,
            lambda: node.answer(history.machine_id, body, history.key, history.timeout),
            patience,
        )
        self.world.trace("ask", mark, history.key, node.name, got)
        history.under_way -= 1
        if got is None or got[0].name not in NOTHING_HAPPENED:
            history.may_have_happened = True
        return (None, None) if got is None else got

    def must_not_have_happened(self, history: KeyHistory) -> None:
        """Where everybody was told that nothing happened, nothing has."""
        if history.may_have_happened or history.under_way:
            return
        begun = sum(self._desktop.happened(mark).begun for mark in history.marks)
        if begun:
            self.world.violated(f"{history.bodies} was answered that nothing happened, and it did")

    async def _look(self, command_id: UUID) -> Looked | None:
        node = self.world.random.choice(self._nodes)
        return await self._from(node, lambda: _looked(node, command_id), 12.0)

    async def _look_until_final(self, command_id: UUID | None) -> None:
        """Look for what became of an input without a key; nothing is kept for whom a node dies."""
        times_missed = 0
        while command_id is not None and times_missed < LOOKS:
            await asyncio.sleep(self.world.between(0.5, 3))
            looked = await self._look(command_id)
            if looked is not None and looked.known is None:
                times_missed += 1
            elif looked is not None and looked.known is not None and looked.known.is_final:
                self.world.facts[f"looked up: {looked.known.state}"] += 1
                return

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
        timer = self.process.call_later(patience, settle, None)
        result = await answer
        timer.cancel()
        return result


async def _looked(node: Node, command_id: UUID) -> Looked | None:
    try:
        return Looked(await node.look(command_id))
    except StoreUnavailable:
        return None
