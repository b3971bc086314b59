"""The one thread that touches the desktop and the journal, one command at a time."""

import logging
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Protocol
from uuid import UUID

from pydantic import ValidationError

from machine_client.clock import awake_seconds
from machine_client.injector import InjectionFailed, InjectionUnavailable, Refusal
from machine_client.journal import Journal
from machine_client.session import CommandEnded, CommandLookedUp
from schemas.inputs import INPUT_BODIES, AnyInput
from schemas.outcomes import Completed, Expired, Failed, NotCarriedOut, Outcome, Point, Refused
from schemas.problems import entries_of, sentence
from schemas.wire import Display, Input

logger = logging.getLogger(__name__)

STOP_SECONDS = 5.0
SETTLE_AFTER_SECONDS = 0.05


class Injector(Protocol):
    """What the executor needs of a desktop."""

    def prepare(self, body: AnyInput) -> Callable[[], Point]:
        """Check an input whole.  What comes back injects it.

        Raises Refusal, or InjectionUnavailable where there is no desktop.
        """

    def interrupt(self) -> None:
        """End a running injection early; it fails.  The only call from another thread."""

    def release_all(self) -> None:
        """Release exactly the keys and buttons that are held."""

    def displays(self) -> list[Display]:
        """The desktop's screens."""

    def close(self) -> None:
        """Let go of the desktop."""


class Executor:
    """Carries out commands in the order in which they are begun.

    ``report`` takes what ended; it is called from the executor's thread.  Whatever happens to a
    command, exactly one CommandEnded is reported for it.
    """

    def __init__(
        self,
        journal: Journal,
        injector: Injector,
        report: Callable[[CommandEnded | CommandLookedUp], None],
    ) -> None:
        self._journal = journal
        self._injector = injector
        self._report = report
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="executor", daemon=True)
        self._thread.start()

    def begin(self, command: Input, begin_by: float) -> None:
        """Carry out a command, unless :func:`awake_seconds` is past ``begin_by`` by then."""
        self._jobs.put(lambda: self._carry_out(command, begin_by))

    def look_up(self, command_id: UUID) -> None:
        """Report what became of a command that does not run; bar it if it is not known."""
        self._jobs.put(lambda: self._look_up(command_id))

    def use(self, injector: Injector) -> None:
        """Inject through another injector from the next command on."""

        def change() -> None:
            self._injector.close()
            self._injector = injector

        self._jobs.put(change)

    def release_held(self) -> None:
        """Release what is held, after the running command."""
        self._jobs.put(self._release_held)

    def stop(self) -> None:
        """Interrupt what runs, release what is held, close injector and journal, end the thread."""
        self._injector.interrupt()
        self._jobs.put(self._close_injector)
        self._jobs.put(self._journal.close)
        self._jobs.put(None)
        self._thread.join(STOP_SECONDS)

    def _release_held(self) -> None:
        self._injector.release_all()

    def _close_injector(self) -> None:
        self._injector.close()

    def _work(self) -> None:
        while (job := self._next_job()) is not None:
            self._do(job)

    def _do(self, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception:  # the thread must outlive every mistake, and never silently
            logger.exception("a job of the executor failed")

    def _next_job(self) -> Callable[[], None] | None:
        """The next thing to do; the journal's own work is done while there is none."""
        try:
            return self._jobs.get(timeout=SETTLE_AFTER_SECONDS)
        except Empty:
            self._do(self._journal.settle)
            return self._jobs.get()

    def _carry_out(self, command: Input, begin_by: float) -> None:
        try:
            outcome = self._outcome(command, begin_by)
        except Exception as error:
            logger.exception("command=%s failed", command.command_id)
            outcome = Failed(
                code="internal_error",
                message=f"the machine client made a mistake ({type(error).__name__})",
                injected_at_least=0,
            )
        self._report(CommandEnded(command.command_id, outcome, self._journal.position.sequence))

    def _outcome(self, command: Input, begin_by: float) -> Outcome:
        """Journal, inject, journal: what is known already is answered, never injected again."""
        command_id, fingerprint = command.command_id, command.fingerprint
        prepared = self._prepare(command)
        if isinstance(prepared, Refused | Failed):
            if self._journal.refuse(command_id, fingerprint, prepared):
                return prepared
            return self._known(command)
        # The last look at the clock: the process may have stood still since the session's.
        if awake_seconds() > begin_by:
            return Expired()
        if not self._journal.intend(command_id, fingerprint):
            return self._known(command)
        outcome = _injected(prepared)
        self._journal.finish(command_id, outcome)
        return outcome

    def _prepare(self, command: Input) -> Callable[[], Point] | Refused | Failed:
        try:
            return self._injector.prepare(
                INPUT_BODIES[command.operation].model_validate(command.body)
            )
        except Refusal as refusal:
            return refusal.outcome
        except InjectionUnavailable as error:
            return Failed(
                code="desktop_unavailable", message=str(error)[:1000], injected_at_least=0
            )
        except ValidationError as error:
            entry = entries_of(error.errors(include_url=False), "body")[0]
            return Refused(code=entry.type, message=sentence(entry), loc=tuple(entry.loc))

    def _known(self, command: Input) -> Outcome:
        """The answer to a command that the journal has: its key outlived the server's record."""
        entry = self._journal.find(command.command_id)
        if entry is None:
            raise LookupError("the journal has lost an entry that it just had")
        if entry.fingerprint and entry.fingerprint != command.fingerprint:
            return Refused(
                code="idempotency_key_reused",
                message="this key was used for another request; use a new key for a new request",
                loc=("header", "Idempotency-Key"),
            )
        return entry.final_outcome()

    def _look_up(self, command_id: UUID) -> None:
        outcome: Outcome = NotCarriedOut()
        if not self._journal.bar(command_id):
            entry = self._journal.find(command_id)
            outcome = NotCarriedOut() if entry is None else entry.final_outcome()
        self._report(CommandLookedUp(command_id, outcome, self._journal.position.sequence))


def _injected(inject: Callable[[], Point]) -> Outcome:
    started = time.perf_counter()
    try:
        pointer = inject()
    except InjectionFailed as failure:
        return Failed(
            code=failure.code,
            message=failure.message,
            injected_at_least=failure.injected_at_least,
        )
    return Completed(duration_ms=round((time.perf_counter() - started) * 1000, 3), pointer=pointer)
