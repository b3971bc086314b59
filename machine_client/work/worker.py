"""Carries out one command: journal, inject, journal.

What is known already is answered from the journal and never injected again.  Nothing here knows
of threads; `machine_client.work.executor` has the one that this runs in.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from pydantic import ValidationError

from machine_client.journal.journal import Entry, Journal, JournalError
from machine_client.work.batch import ActionInjector, Batch, Eyes
from machine_client.work.injector import (
    InjectionFailed,
    InjectionUnavailable,
    OutcomeUnknown,
    Refusal,
)
from machine_client.work.orders import CommandEnded, CommandLookedUp
from schemas.inputs.actions import COMMAND_BODIES, Actions
from schemas.inputs.outcomes import (
    Completed,
    Effect,
    Expired,
    Failed,
    NotCarriedOut,
    Outcome,
    Point,
    Refused,
    Unknown,
)
from schemas.link.messages import Display, Input, Released, Resolve
from schemas.programs.failpoints import Failpoint, reached
from schemas.values.validation_errors import entries_of, sentence

logger = logging.getLogger(__name__)


class Injector(ActionInjector, Protocol):
    """What is needed of a desktop, from its beginning to its end."""

    @property
    def is_lost(self) -> bool:
        """Whether the desktop that was opened is gone, and another injector is needed."""

    def interrupt(self) -> None:
        """End a running injection early; it fails.  For any thread."""

    def release_all(self) -> None:
        """Release exactly the keys and buttons that are held."""

    def take_released(self) -> Released | None:
        """What a machine client that died had left pressed and this released; told once."""

    def displays(self) -> list[Display]:
        """The desktop's screens."""

    def close(self) -> None:
        """Let go of the desktop."""


class Performance(Protocol):
    """A command that was checked whole, and nothing of it is done."""

    @property
    def so_far(self) -> Outcome | None:
        """How it ended if nothing more were heard of it once it is begun; None is not known."""

    def perform(self) -> Outcome:
        """Carry it out."""


class Worker:
    """Does what commands ask for, one at a time.

    ``clock`` is seconds of `machine_client.system.clock.boottime_seconds`.
    """

    def __init__(
        self, journal: Journal, injector: Injector, eyes: Eyes, clock: Callable[[], float]
    ) -> None:
        self.injector = injector
        self._journal = journal
        self._eyes = eyes
        self._clock = clock
        self._injecting: UUID | None = None
        self._noted: tuple[UUID | None, int] = (None, 0)

    def carry_out(self, command: Input, begin_by: float) -> CommandEnded:
        """Carry out a command, unless the clock is past ``begin_by``; never raises for its sake."""
        try:
            outcome = self._outcome(command, begin_by)
        except JournalError as error:
            # Nothing is begun without its INTENT; the executor has the link end, and says why.
            outcome = Failed(code="journal_failed", message=str(error)[:1000], injected_at_least=0)
        except Exception as error:
            logger.exception("command=%s failed", command.command_id)
            outcome = Failed(
                code="internal_error",
                message=f"the machine client made a mistake ({type(error).__name__})",
                injected_at_least=0,
            )
        finally:
            self._eyes.close()
        _log_end(command, outcome)
        return CommandEnded(command.command_id, outcome, self._journal.position.sequence)

    def look_up(self, question: Resolve) -> CommandLookedUp:
        """What became of a command that does not run; one that is not known is barred for ever.

        A journal without the mark that the command was sent after cannot know: whatever it says
        is of another branch.  For any thread, as are the two below.
        """
        reached(Failpoint.BEFORE_REPORT)
        if question.mark is not None and not self._journal.has_mark(question.mark):
            outcome: Outcome = Unknown()
        else:
            outcome = self._known_or_barred(question)
        return CommandLookedUp(question.command_id, outcome, self._journal.position.sequence)

    def expire(self, command: Input) -> CommandEnded:
        """The outcome of a command whose time has passed before its turn came."""
        outcome = self._known(command) or Expired()
        _log_end(command, outcome)
        return CommandEnded(command.command_id, outcome, self._journal.position.sequence)

    @property
    def is_injecting(self) -> bool:
        """Whether a command that a key can repeat is being injected now."""
        return self._injecting is not None

    def note_progress(self) -> None:
        """Have the journal know how much of a running injection has surely happened."""
        running, injected = self._injecting, self.injector.injected
        if running is not None and injected > 0 and (running, injected) != self._noted:
            self._journal.progress(running, Unknown(injected_at_least=injected))
            self._noted = running, injected

    def _outcome(self, command: Input, begin_by: float) -> Outcome:
        command_id, fingerprint = command.command_id, command.fingerprint
        prepared = self._prepare(command, begin_by)
        if isinstance(prepared, Refused | Failed):
            if self._journal.refuse(command_id, fingerprint, prepared):
                return prepared
            return self._known(command) or prepared
        reached(Failpoint.BEFORE_INTENT)
        if not self._journal.intend(command_id, fingerprint, prepared.so_far):
            return self._known(command) or NotCarriedOut()
        reached(Failpoint.AFTER_INTENT)
        # The last look at the clock: the process, or its disk, may have stood still since.
        outcome = Expired() if self._clock() > begin_by else prepared.perform()
        reached(Failpoint.AFTER_EVENTS)
        self._finish(command_id, outcome)
        reached(Failpoint.AFTER_DONE)
        if isinstance(prepared, Batch) and not isinstance(outcome, Expired):
            prepared.take_closing_picture()
        return outcome

    def inject(self, command: Input, inject: Callable[[], Point]) -> Outcome:
        """Inject one input; meanwhile its progress can be noted."""
        self._injecting = command.command_id if command.fingerprint else None
        try:
            return _injected(inject, self.injector.effect)
        finally:
            self._injecting = None

    def _finish(self, command_id: UUID, outcome: Outcome) -> None:
        """Note the end.  What was injected is told even where that fails: the intent stands."""
        try:
            self._journal.finish(command_id, outcome)
        except Exception:
            logger.exception("the journal does not know how command=%s ended", command_id)

    def _prepare(self, command: Input, begin_by: float) -> Performance | Refused | Failed:
        try:
            body = COMMAND_BODIES[command.operation].model_validate(command.body)
            if isinstance(body, Actions):
                return self._batch(command, body, begin_by)
            return OneInput(self, command, self.injector.prepare(body))
        except Refusal as refusal:
            return refusal.outcome
        except InjectionUnavailable as error:
            return Failed(
                code="desktop_unavailable", message=str(error)[:1000], injected_at_least=0
            )
        except ValidationError as error:
            entry = entries_of(error.errors(include_url=False), "body")[0]
            return Refused(code=entry.type, message=sentence(entry), loc=tuple(entry.loc))

    def _batch(self, command: Input, body: Actions, begin_by: float) -> Batch:
        """Several actions, checked whole.  Raises Refusal and InjectionUnavailable."""
        command_id = command.command_id
        batch = Batch(
            command_id,
            body,
            self.injector,
            self._eyes,
            note=lambda so_far, flush: self._journal.progress(command_id, so_far, flush=flush),
            is_late=lambda seconds: self._clock() > begin_by + seconds,
            clock=self._clock,
        )
        batch.check()
        return batch

    def _known_or_barred(self, question: Resolve) -> Outcome:
        if (known := self._known(question)) is not None:
            return known
        self._journal.bar(question.command_id)
        return self._known(question) or NotCarriedOut()

    def _known(self, asked: Input | Resolve) -> Outcome | None:
        """What the journal has of a command; None if nothing."""
        entry = self._journal.find(asked.command_id)
        return None if entry is None else _outcome_of(entry, asked)


def _outcome_of(entry: Entry, asked: Input | Resolve) -> Outcome:
    """What an entry says of a command, if it is of the same request, or only bars its id."""
    if entry.fingerprint in (asked.fingerprint, ""):
        return entry.final_outcome()
    return Refused(
        code="idempotency_key_reused",
        message="this key was used for another request; use a new key for a new request",
        loc=("header", "Idempotency-Key"),
    )


def _log_end(command: Input, outcome: Outcome) -> None:
    """One line with the ids by which the server's log is found; never what was typed."""
    level = logging.DEBUG if isinstance(outcome, Completed) else logging.WARNING
    logger.log(
        level,
        "command=%s request=%s operation=%s outcome=%s",
        command.command_id,
        command.request_id,
        command.operation,
        outcome.status,
    )


@dataclass(frozen=True, slots=True)
class OneInput:
    """A single input that was checked."""

    worker: Worker
    command: Input
    inject: Callable[[], Point]
    so_far: None = None

    def perform(self) -> Outcome:
        """Inject it."""
        return self.worker.inject(self.command, self.inject)


def _injected(inject: Callable[[], Point], effect: Effect) -> Outcome:
    started = time.perf_counter()
    try:
        pointer = inject()
    except Refusal as refusal:
        return refusal.outcome
    except OutcomeUnknown:
        return Unknown()
    except InjectionFailed as failure:
        return Failed(
            code=failure.code,
            message=failure.message,
            injected_at_least=failure.injected_at_least,
        )
    milliseconds = round((time.perf_counter() - started) * 1000, 3)
    return Completed(duration_ms=milliseconds, pointer=pointer, effect=effect)
