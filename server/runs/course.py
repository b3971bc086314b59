"""One run on this node: from the step that it is at to its end, a halt, or another node.

What it does is a task of its own; another keeps the run, and its machine, and sees what others
want of it.  Whatever ends the first is one of a few causes, and the second is there until then.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from schemas.programs.failpoints import Failpoint, reached
from schemas.runs.runs import Halted
from schemas.steps.step import Step
from server.dispatch.command import Sender
from server.dispatch.control import MachineControl
from server.dispatch.dispatcher import Dispatcher
from server.errors import StoreError, StoreUnavailable, WrongState
from server.fleet.lasting_rights import LastingRights
from server.runs.answering import ParkedAnswers, answered
from server.runs.ending import RunEnding, why_no_right
from server.runs.halting import RunHalts
from server.runs.hold import RunHold, taken_over
from server.runs.machine import RunMachine
from server.runs.stepping import Stepping, StepTools
from server.runs.stops import Ending, Halting, HandedOver, Lost
from server.runs.trying import StepTrying
from server.secrets.sealing import Sealing
from server.secrets.vault import Sealed, SealedError
from server.store.runs.documents import StoredRun
from server.store.runs.turns import RunTurns
from server.store.times import now
from server.store.trajectories.pictures import PictureStore
from server.tasks import Tasks
from server.trajectories.running import RunContents

logger = logging.getLogger(__name__)

KEEP_SECONDS: Final = 2.0
"""Between two looks at what is wanted of the run, with which its lease is renewed."""

AGAIN_SECONDS: Final = 1.0


@dataclass(frozen=True)
class CourseParts:
    """What every run of this node is worked at with.

    ``sealing`` opens the secrets of a run; they are in memory only while it is worked at.
    """

    turns: RunTurns
    contents: RunContents
    control: MachineControl
    dispatcher: Dispatcher
    pictures: PictureStore
    halts: RunHalts
    ending: RunEnding
    answers: ParkedAnswers
    rights: LastingRights
    sealing: Sealing
    ledger_remembers: timedelta
    background: Tasks


class RunCourse:
    """Works at a run that this node has claimed; ``go`` returns when it does so no more."""

    def __init__(self, parts: CourseParts, run: StoredRun) -> None:
        assert run.machine_id is not None  # noqa: S101  it has its turn
        self._parts = parts
        self._run = run
        self._machine = RunMachine(
            run.organization_id, run.machine_id, parts.dispatcher, parts.pictures
        )
        self._hold = RunHold(parts.control, run, run.machine_id)
        self._trying = StepTrying(parts.dispatcher, sender_of(run), parts.ledger_remembers)
        self._steps: asyncio.Task[None] | None = None
        self._cause: Exception | None = None
        self._leaves = False
        self._told = asyncio.Event()

    @property
    def is_halted(self) -> bool:
        """Whether it waits for people."""
        return self._run.halted is not None

    def leave(self) -> None:
        """Have another node go on: at once, or when the input under way has ended."""
        self._leaves = True
        if self._cause is None and not self._trying.is_sending:
            self._interrupt(HandedOver())

    def look(self) -> None:
        """Somebody may want something of it."""
        self._told.set()

    async def go(self) -> None:
        """Work at it until it has ended, keeps no node any more, or is another node's."""
        # It may have been cancelled while no node worked at it, or its token revoked.
        with suppress(StoreUnavailable):
            await self._look()
        keeper = self._parts.background.start(self._keep(), f"keep run {self._run.id}")
        try:
            await self._go_on()
        except Lost:
            logger.info("run=%s another node goes on with it", self._run.id)
        finally:
            keeper.cancel()
            with suppress(asyncio.CancelledError):
                await keeper

    async def _go_on(self) -> None:
        """Work and halt by turns, until there is nothing more to do here.  Raises Lost."""
        if self._run.halted is None:
            # It may have been continued while no node was there to see it.
            with suppress(StoreUnavailable):
                await self._parts.halts.withdraw_all(self._run)
        while True:
            try:
                if await self._has_left():
                    return
            except Lost:
                # Or a write that was given up has happened since: then it is still this node's.
                await self._patiently(self._read_again)
            except StoreError as error:
                logger.warning("run=%s waits for the database: %s", self._run.id, error)
                # What was stored is where it goes on; nothing is done that is not stored before.
                await asyncio.sleep(AGAIN_SECONDS)
                await self._patiently(self._read_again)
            except Exception:
                # Another node would come to the same, and a run has to have an end.
                logger.exception("run=%s cannot go on", self._run.id)
                await self._end(Ending("error", "the server failed at it: its log says why"))
                return

    async def _has_left(self) -> bool:
        """Work until it halts, or goes on after a halt; True where nothing is left to do here."""
        try:
            if self._run.halted is None:
                await self._worked()
            await self._until_resumed()
        except Halting as why:
            await self._halt(why)
        except HandedOver:
            reached(Failpoint.BEFORE_HANDOVER)
            await self._parts.turns.release(self._run)
            return True
        except Ending as end:
            await self._end(end)
            return True
        except _Parked:
            return True
        return False

    async def _worked(self) -> None:
        """Do what is left of its steps.  Raises what ends that."""
        self._check_cause()
        self._steps = self._parts.background.start(self._work(), f"work at run {self._run.id}")
        try:
            await self._steps
        except asyncio.CancelledError:
            self._check_cause()
            raise
        finally:
            self._steps = None

    def _check_cause(self) -> None:
        """Raise what is to end the work, if there is anything."""
        if self._cause is not None:
            cause, self._cause = self._cause, None
            raise cause from None

    async def _work(self) -> None:
        steps, values = await self._content()
        tools = StepTools(self._machine, self._hold, self._trying, self._parts.turns, values)
        stepping = Stepping(tools, self._run, steps)
        try:
            while stepping.run.step <= len(steps):
                if self._leaves:
                    raise HandedOver
                await stepping.do()
                self._parts.ending.tell(stepping.run)
        finally:
            self._run = stepping.run
        raise Ending("success")

    async def _content(self) -> tuple[tuple[Step, ...], Mapping[str, str]]:
        """Exactly the steps that were approved, as repaired, and its values.  Raises Ending."""
        run = self._run
        try:
            content = await self._parts.contents.as_before(run.organization_id, run.trajectory_id)
        except WrongState as error:
            raise Ending("error", f"what was approved cannot be run any more: {error}") from None
        if content.trajectory.content_hash != run.content_hash:
            raise Ending("error", "its content has changed since it was begun")
        return run.repaired(content.steps), {**run.input_values, **self._secrets()}

    def _secrets(self) -> Mapping[str, str]:
        """The values of its secrets.  Raises Ending where this node cannot open them."""
        sealed = self._run.sealed
        if sealed is None:
            return {}
        try:
            return self._parts.sealing.opened(self._run.id, Sealed(sealed.key_id, sealed.content))
        except SealedError as error:
            raise Ending("error", f"its secrets cannot be opened: {error}") from None

    async def _keep(self) -> None:
        """Keep the run and its machine, and see what is wanted, for ever."""
        while True:
            await self._until_told()
            if self._leaves:
                # An input was under way then, and now its step may wait for the machine.
                self.leave()
            with suppress(StoreUnavailable):
                await self._look()

    async def _until_told(self) -> None:
        """Wait until somebody may want something, or it is time to look anyway."""
        with suppress(TimeoutError):
            async with asyncio.timeout(KEEP_SECONDS):
                await self._told.wait()
        # Not before both who wait here have seen it.
        asyncio.get_running_loop().call_soon(self._told.clear)

    async def _look(self) -> None:
        kept = await self._parts.turns.renew(self._run)
        if kept is None:
            self._interrupt(Lost())
        elif kept.wanted == "cancel":
            # What runs on the machine ends with its control of it.
            await self._hold.give_back()
            self._interrupt(Ending("cancelled"))
        elif (why := await self._why_no_right(kept)) is not None:
            self._interrupt(Ending("error", why))
        else:
            await self._look_at_hold()

    async def _why_no_right(self, run: StoredRun) -> str | None:
        why = await self._parts.rights.why_over(run.organization_id, run.token_id, run.machine_id)
        return None if why is None else why_no_right(why, run.by)

    async def _look_at_hold(self) -> None:
        """Keep the machine; where somebody has taken it, what is being sent says so itself."""
        if self._steps is None or not await self._hold.is_lost():
            return
        if not self._trying.is_sending:
            self._interrupt(taken_over("somebody"))

    def _interrupt(self, cause: Exception) -> None:
        """End the work, if there is any, for this cause; a halted run looks for it by itself."""
        if self._cause is None or isinstance(cause, Lost):
            self._cause = cause
        if self._steps is not None:
            self._steps.cancel()

    async def _halt(self, why: Halting) -> None:
        """Store that it is halted, give the machine to people, and ask them."""
        number = self._run.halts + 1
        await self._give_back()
        await self._patiently(lambda: self._store_halt(number, why))
        self._parts.ending.tell(self._run)

    async def _store_halt(self, number: int, why: Halting) -> None:
        # It may be stored, and that was not answered; people may have had it go on since.
        await self._read_again()
        if self._run.halts < number:
            halted = await self._parts.halts.halted(self._run, why)
            reached(Failpoint.BEFORE_HALT)
            while (written := await self._parts.turns.halt(self._run, halted)) is None:
                # Something that was given up was stored late.
                await self._read_again()
                if self._run.halts >= number and self._run.halted is None:
                    await self._parts.halts.withdraw(self._run, halted.help_id)
                    return
            self._run = written
        reached(Failpoint.AFTER_HALT)

    async def _until_resumed(self) -> None:
        """Keep programs away from a halted run's machine, until somebody has it go on."""
        halted = self._run.halted
        if halted is None:
            return
        over_at = halted.at + timedelta(seconds=self._run.halt_timeout)
        while self._run.halted is not None:
            self._check_cause()
            if self._leaves:
                raise HandedOver
            await self._answered(halted)
            if self._run.halted is None:
                break
            if now() >= over_at:
                await self._park(halted)
            await self._hold.yield_to_people()
            await self._until_told()
            with suppress(StoreUnavailable):
                await self._read_again()
        reached(Failpoint.AFTER_CONTINUE)
        # Whoever has taken control keeps it: the run waits for the machine, or halts again.
        await self._hold.give_back()
        await self._parts.halts.withdraw(self._run, halted.help_id)

    async def _answered(self, halted: Halted) -> None:
        """See what people have answered to its request.  Raises Ending where they cannot help."""
        changes = answered(halted, await self._parts.halts.request(self._run))
        if changes is not None:
            self._ours(await self._parts.turns.write(self._run, halted=None, **changes))
            self._parts.ending.tell(self._run)

    async def _park(self, halted: Halted) -> None:
        if await self._parts.turns.park(self._run) is not None:
            await self._hold.give_back()
            logger.info("run=%s keeps its machine no longer: step=%d", self._run.id, halted.step)
            # It may have been answered while this node still was to see that.
            run, answers = self._run, self._parts.answers
            await self._patiently(lambda: answers.apply(run.organization_id, run.id))
            raise _Parked

    async def _end(self, end: Ending) -> None:
        """End it: its machine is free again, whatever it was at."""
        ending, owner = self._parts.ending, self._parts.turns.owner
        await self._give_back()
        reached(Failpoint.BEFORE_RUN_END)
        await self._patiently(lambda: ending.end(self._run, owner, end.status, end.why))
        reached(Failpoint.AFTER_RUN_END)

    async def _give_back(self) -> None:
        """Give the machine back, but from under nobody: another node has it by the same lease."""
        await self._patiently(self._read_again)
        await self._hold.give_back()

    async def _read_again(self) -> None:
        self._ours(await self._parts.turns.renew(self._run))

    async def _patiently(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do it once the database answers.  Raises Lost where it does not, and this node leaves."""
        while True:
            with suppress(StoreUnavailable):
                await work()
                return
            if self._leaves:
                raise Lost
            await asyncio.sleep(AGAIN_SECONDS)

    def _ours(self, run: StoredRun | None) -> None:
        if run is None:
            raise Lost
        self._run = run


class _Parked(Exception):  # noqa: N818  no error: a turn in the life of a run
    """It keeps no node any more."""


def sender_of(run: StoredRun) -> Sender:
    """Who sends the inputs of a run: whoever began it, with the run's control of the machine."""
    return Sender(
        organization_id=run.organization_id,
        token_id=run.token_id,
        token_name=run.by,
        request_id=str(run.id),
        lease_hash=run.reservation,
        user_id=run.user_id,
        has_secrets=bool(run.secrets),
    )
