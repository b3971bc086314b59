"""The rules of several actions, which can be taken out; see `tests.simulation.test_rules`."""

from collections.abc import Callable
from uuid import UUID

import pytest

from machine_client.journal.journal import Journal
from machine_client.link.events import Effect
from machine_client.link.session import Session
from machine_client.work.batch import Batch
from schemas.inputs.actions import AnyAction
from schemas.inputs.bodies import AnyInput
from schemas.inputs.outcomes import ActionResult, Failed, Outcome, Point, Unknown
from server.dispatch.ledger import reconciler, resolver
from server.dispatch.ledger.machine_link import MachineLink
from server.store.commands import CommandRecord
from tests.simulation.desktop import Hand


def keep_begun_marks_in_the_page_cache(patch: pytest.MonkeyPatch) -> None:
    """What is noted of an action is not flushed before its first event."""
    progress = Journal.progress

    def noted(self: Journal, command_id: UUID, so_far: Outcome, *, flush: bool = False) -> None:
        progress(self, command_id, so_far, flush=False)

    patch.setattr(Journal, "progress", noted)


def note_an_action_when_the_next_one_begins(patch: pytest.MonkeyPatch) -> None:
    """The marks come one action late."""
    begin = Batch._begin

    def begun(self: Batch, number: int, action: AnyAction) -> None:
        late = self._results.pop() if self._results else None
        begin(self, number, self._body.actions[max(0, number - 1)])
        if late is not None:
            self._results.append(late)

    patch.setattr(Batch, "_begin", begun)


def call_what_runs_not_begun(patch: pytest.MonkeyPatch) -> None:
    """The journal says of the action that runs what it says of those after it."""

    def if_ended_in(self: Batch, _action: AnyAction) -> Outcome:
        return Unknown(injected_at_least=self._injected, actions=self._all_results())

    patch.setattr(Batch, "_if_ended_in", if_ended_in)


def call_done_what_runs(patch: pytest.MonkeyPatch) -> None:
    """An action's mark says that it is done when it begins."""

    def if_ended_in(self: Batch, action: AnyAction) -> Outcome:
        done = ActionResult(operation=action.operation, status="completed")
        return Failed(
            code="interrupted", message="", injected_at_least=0, actions=self._all_results(done)
        )

    patch.setattr(Batch, "_if_ended_in", if_ended_in)


def go_on_without_the_link(patch: pytest.MonkeyPatch) -> None:
    """Several actions are carried out to their end when their link is lost."""
    lost = Session._lost

    def kept(self: Session) -> list[Effect]:
        self._runs_several = False
        return lost(self)

    patch.setattr(Session, "_lost", kept)


def go_on_after_an_interrupt(patch: pytest.MonkeyPatch) -> None:
    """An interrupt ends one action, and the next one begins all the same."""
    result_of, prepare = Batch._result_of, Hand.prepare

    def went_on(self: Batch, number: int, action: AnyAction) -> ActionResult:
        result = result_of(self, number, action)
        is_interrupted = result.status == "interrupted"
        return result.model_copy(update={"status": "completed"}) if is_interrupted else result

    def prepared(self: Hand, body: AnyInput) -> Callable[[], Point]:
        self._is_interrupted = False
        return prepare(self, body)

    def why_not_begun(self: Batch, number: int) -> tuple[str, str] | None:
        return ("expired", "") if number and self._is_late(0) else None

    patch.setattr(Batch, "_result_of", went_on)
    patch.setattr(Batch, "_why_not_begun", why_not_begun)
    patch.setattr(Hand, "prepare", prepared)


def begin_however_late(patch: pytest.MonkeyPatch) -> None:
    """An action begins whenever those before it are done, however long the machine slept."""
    why_not_begun = Batch._why_not_begun
    patch.setattr(Batch, "_why_not_begun", lambda self, _number: why_not_begun(self, 0))


def believe_nothing_after_a_boot(patch: pytest.MonkeyPatch) -> None:
    """What was open is unknown when the machine has booted, whatever is on its disk."""
    is_lost = resolver.journal_is_lost

    def has_booted(record: CommandRecord, link: MachineLink) -> bool:
        booted = record.boot_id not in (None, link.greeting.boot_id)
        return is_lost(record, link) or (booted and record.epoch < link.epoch)

    patch.setattr(resolver, "journal_is_lost", has_booted)
    patch.setattr(reconciler, "journal_is_lost", has_booted)
