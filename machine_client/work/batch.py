"""Carries out several actions, one after another, and ends with the first that is not completed.

Before an action's first event the journal has on disk that it is begun, and after its last that it
is done: so whatever ends this program, what was done is known, of one action at most it is not, and
the rest is never carried out.
"""

import logging
import time
from collections.abc import Callable
from typing import Final, Protocol
from uuid import UUID

from machine_client.desktop.base import DesktopError, OutcomeUnknown, RawFrame
from machine_client.journal.journal import JournalError
from machine_client.screen.sender import ActionPlace, Sight
from machine_client.work.injector import InjectionFailed, InjectionUnavailable, Refusal
from schemas.inputs.actions import (
    Actions,
    AnyAction,
    ClosingPicture,
    InputAction,
    Pause,
    TakePicture,
    WaitFor,
)
from schemas.inputs.bodies import AnyInput, ClickMouse, ElementInput, MouseInput, PressKeys
from schemas.inputs.outcomes import (
    ELEMENT_REFUSALS,
    ActionResult,
    ActionStatus,
    Completed,
    Effect,
    Failed,
    Outcome,
    Point,
    Results,
    Stopped,
    Unknown,
)
from schemas.inputs.waits import Changed
from schemas.programs.failpoints import Failpoint, reached

logger = logging.getLogger(__name__)

INTERRUPTED: Final = "interrupted"

_STATUSES: Final[dict[str, ActionStatus]] = {
    INTERRUPTED: "interrupted",
    **dict.fromkeys(ELEMENT_REFUSALS, "not_seen"),
}
"""What it means that an action ended with a code; any other is a failure."""

Sighted = TakePicture | ClosingPicture | WaitFor
"""What needs a screen."""

IsInterrupted = Callable[[], bool]


class ActionInjector(Protocol):
    """What is needed of a desktop to act on it."""

    @property
    def effect(self) -> Effect:
        """What is known of the events of an injection that has ended well."""

    @property
    def injected(self) -> int:
        """How many events of the input prepared last have surely happened; for any thread."""

    @property
    def is_interrupted(self) -> bool:
        """Whether nothing is to begin any more until what is held is released; for any thread."""

    def prepare(self, body: AnyInput) -> Callable[[], Point]:
        """Check an input whole.  What comes back injects it.

        Raises Refusal, or InjectionUnavailable where there is no desktop.
        """

    def pointer(self) -> Point:
        """Say where the pointer is.  Raises InjectionUnavailable."""

    def release(self, body: ClickMouse | PressKeys) -> None:
        """Release what an input holds, if it still does; does not raise for a desktop's sake."""

    def pause(self, seconds: float) -> None:
        """Let time pass; less where it is interrupted."""


class Eyes(Protocol):
    """What is needed of a screen to look at it; what takes time ends early if interrupted.

    All but `take` may raise DesktopError where the screen cannot be seen.
    """

    def check(self, wanted: Sighted) -> None:
        """Raise Refusal for what this screen does not have."""

    def frame(self) -> RawFrame:
        """What the screen shows now."""

    def wait_for(
        self,
        place: ActionPlace,
        wait: WaitFor,
        before: RawFrame | None,
        is_interrupted: IsInterrupted,
    ) -> Sight:
        """Wait until one of several things is seen; ``before`` is what a change is told by.

        ``place`` is which of its command's actions waits.
        """

    def take(
        self,
        command_id: UUID,
        action: int | None,
        wanted: TakePicture | ClosingPicture,
        is_interrupted: IsInterrupted,
    ) -> None:
        """Take a picture, and keep it until it is asked for, or why there is none.

        The closing one has no number.
        """

    def close(self) -> None:
        """Let go of the screen; it is opened anew when it is needed."""


class Batch:
    """The actions of one command.

    ``note`` has the journal know how it ended if nothing more is noted; with the second argument it
    is on disk before it returns.  ``is_late`` says whether what was to begin so many seconds after
    the command comes too late, of which each action has its own time; ``clock`` is seconds.
    """

    def __init__(
        self,
        command_id: UUID,
        body: Actions,
        injector: ActionInjector,
        eyes: Eyes,
        *,
        note: Callable[[Outcome, bool], None],
        is_late: Callable[[float], bool],
        clock: Callable[[], float],
    ) -> None:
        self._command_id = command_id
        self._body = body
        self._injector = injector
        self._eyes = eyes
        self._note = note
        self._is_late = is_late
        self._clock = clock
        self._seconds_taken = 0.0
        self._results: list[ActionResult] = []
        self._not_begun = [
            ActionResult(operation=each.operation, status="not_begun") for each in body.actions
        ]
        self._injected = 0
        self._pointer: Point | None = None
        self._before: RawFrame | None = None

    def check(self) -> None:
        """Look whether all of it can be done, and do nothing.

        Raises Refusal, at the place of what cannot, or InjectionUnavailable.
        """
        for number, action in enumerate(self._body.actions):
            self._check(action, "actions", str(number))
        if self._body.screenshot is not None:
            self._check(self._body.screenshot, "screenshot")

    @property
    def so_far(self) -> Outcome:
        """How it ended if nothing more were heard of it once it is begun."""
        return self._if_ended_in(self._body.actions[0])

    def perform(self) -> Outcome:
        """Carry it out; where it ends early, what its actions hold is released."""
        try:
            outcome = self._perform()
        except JournalError as error:
            # Nothing is begun without its mark, and what was done is known.
            outcome = self._failed("journal_failed", str(error)[:1000])
        if not isinstance(outcome, Completed):
            self._let_go()
        return outcome

    def _perform(self) -> Outcome:
        for number, action in enumerate(self._body.actions):
            if (why := self._why_not_begun(number)) is None:
                self._begin(number, action)
                # The process, or its disk, may have stood still since.
                why = self._why_not_begun(number)
            if why is not None:
                return self._failed(*why)
            began_at = self._clock()
            result = self._result_of(number, action)
            self._seconds_taken += min(action.own_seconds, self._clock() - began_at)
            reached(Failpoint.AFTER_ACTION)
            self._results.append(result)
            if result.status != "completed":
                return self._ended_by(number, result)
            if number + 1 < len(self._body.actions):
                self._note(self._failed(INTERRUPTED, "the machine client ended"), False)
            reached(Failpoint.AFTER_ACTION_DONE)
        return self._completed()

    def take_closing_picture(self) -> None:
        """Show what came of it, once the screen is still; not where it was interrupted."""
        if self._body.screenshot is not None and not self._injector.is_interrupted:
            try:
                self._take(None, self._body.screenshot)
            except Exception:  # how the actions ended is known, and stays
                logger.exception("command=%s has no closing picture", self._command_id)

    def _check(self, wanted: AnyAction | ClosingPicture, *place: str) -> None:
        try:
            if isinstance(wanted, InputAction):
                self._check_input(wanted)
            elif not isinstance(wanted, Pause):
                self._eyes.check(wanted)
        except Refusal as refusal:
            loc = ("body", *place, *refusal.outcome.loc[1:])
            raise Refusal(refusal.outcome.model_copy(update={"loc": loc})) from None
        except DesktopError as error:
            raise InjectionUnavailable(str(error)) from error

    def _check_input(self, wanted: InputAction) -> None:
        """Elements are looked for when it is their turn: what is done before may bring them."""
        if isinstance(wanted, MouseInput):
            self._injector.prepare(wanted.without_elements())
        elif not isinstance(wanted, ElementInput):
            self._injector.prepare(wanted)

    def _why_not_begun(self, number: int) -> tuple[str, str] | None:
        """Why nothing further is begun, for a program and for a person."""
        if self._injector.is_interrupted:
            return INTERRUPTED, "it was interrupted between two actions"
        if number and self._is_late(self._seconds_taken):
            return "expired", "the machine stood still, or was slow, for too long"
        return None

    def _let_go(self) -> None:
        """Release what was to be held for actions that never come."""
        if self._injector.is_interrupted:
            return  # All that is held is released then.
        for action in self._holding:
            self._injector.release(action)

    @property
    def _holding(self) -> list[ClickMouse | PressKeys]:
        """The actions so far that hold something which no later one let go of, the last first."""
        holding: dict[str, ClickMouse | PressKeys] = {}
        for action, result in zip(self._body.actions, self._results, strict=False):
            if not isinstance(action, ClickMouse | PressKeys) or action.down is None:
                continue
            what = action.button if isinstance(action, ClickMouse) else action.text
            holding.pop(what, None)
            if action.down and result.status == "completed":
                holding[what] = action
        return [*holding.values()][::-1]

    def _begin(self, number: int, action: AnyAction) -> None:
        reached(Failpoint.BEFORE_BEGUN)
        if number:
            # What only looks leaves nothing behind: its mark need not outlive a power cut.
            self._note(self._if_ended_in(action), isinstance(action, InputAction))
        reached(Failpoint.AFTER_BEGUN)

    def _result_of(self, number: int, action: AnyAction) -> ActionResult:
        began_at = time.perf_counter()
        sight: Sight | None = None
        try:
            before, self._before = self._before, self._before_next(number)
            sight = self._carry_out(number, action, before)
        except InjectionFailed as failure:
            return _failure(action, failure.code, failure.message)
        except Refusal as refusal:
            return _failure(action, refusal.outcome.code, refusal.outcome.message)
        except OutcomeUnknown as error:
            return ActionResult(
                operation=action.operation, status="unknown", message=str(error)[:1000]
            )
        except InjectionUnavailable as error:
            return _failure(action, "desktop_unavailable", str(error))
        except DesktopError as error:
            return _failure(action, error.code, str(error))
        except Exception as error:  # the actions before it are done, whatever this one does
            logger.exception("command=%s action=%d failed", self._command_id, number)
            mistake = f"the machine client made a mistake ({type(error).__name__})"
            return _failure(action, "internal_error", mistake)
        if not isinstance(action, InputAction) and self._injector.is_interrupted:
            return _failure(action, INTERRUPTED, "it was interrupted")
        milliseconds = round((time.perf_counter() - began_at) * 1000, 3)
        is_seen = sight is None or sight.matched is not None or _goes_on(action)
        return ActionResult(
            operation=action.operation,
            status="completed" if is_seen else "not_seen",
            duration_ms=milliseconds,
            matched=sight and sight.matched,
            at=sight and sight.at,
        )

    def _carry_out(self, number: int, action: AnyAction, before: RawFrame | None) -> Sight | None:
        match action:
            case Pause(seconds=seconds):
                self._injector.pause(seconds)
            case WaitFor():
                place = ActionPlace(self._command_id, number)
                return self._eyes.wait_for(place, action, before, self._is_interrupted)
            case TakePicture():
                self._take(number, action)
            case _:
                inject = self._injector.prepare(action)
                try:
                    self._pointer = inject()
                finally:
                    self._injected += self._injector.injected
        return None

    def _take(self, number: int | None, wanted: TakePicture | ClosingPicture) -> None:
        self._eyes.take(self._command_id, number, wanted, self._is_interrupted)

    def _is_interrupted(self) -> bool:
        return self._injector.is_interrupted

    def _before_next(self, number: int) -> RawFrame | None:
        """What the next action tells a change by, if it waits for one: the screen before this."""
        following = self._body.actions[number + 1 : number + 2]
        return self._eyes.frame() if any(map(_waits_for_change, following)) else None

    def _ended_by(self, number: int, result: ActionResult) -> Outcome:
        if result.status == "not_seen":
            return Stopped(actions=self._all_results())
        if result.status == "unknown":
            return Unknown(injected_at_least=self._injected, actions=self._all_results())
        code, message = result.code or INTERRUPTED, result.message or "it was interrupted"
        return self._failed(code, f"action {number} ({result.operation}): {message}"[:1000])

    def _completed(self) -> Outcome:
        try:
            pointer = self._pointer or self._injector.pointer()
        except InjectionUnavailable as error:
            return self._failed("desktop_unavailable", str(error)[:1000])
        return Completed(
            duration_ms=round(sum(each.duration_ms or 0.0 for each in self._results), 3),
            pointer=pointer,
            effect=self._injector.effect,
            actions=self._all_results(),
        )

    def _failed(self, code: str, message: str) -> Failed:
        return Failed(
            code=code,
            message=message,
            injected_at_least=self._injected,
            actions=self._all_results(),
        )

    def _if_ended_in(self, action: AnyAction) -> Outcome:
        """How it ended if nothing more were heard of it while this action is carried out."""
        if isinstance(action, InputAction):
            unknown = ActionResult(operation=action.operation, status="unknown")
            return Unknown(injected_at_least=self._injected, actions=self._all_results(unknown))
        return self._failed(INTERRUPTED, "the machine client ended")

    def _all_results(self, *current: ActionResult) -> Results:
        begun = len(self._results) + len(current)
        return (*self._results, *current, *self._not_begun[begun:])


def _failure(action: AnyAction, code: str, message: str) -> ActionResult:
    status: ActionStatus = _STATUSES.get(code, "failed")
    return ActionResult(
        operation=action.operation, status=status, code=code, message=message[:1000]
    )


def _goes_on(action: AnyAction) -> bool:
    return isinstance(action, WaitFor) and action.on_timeout == "continue"


def _waits_for_change(action: AnyAction) -> bool:
    return isinstance(action, WaitFor) and any(isinstance(each, Changed) for each in action.any)
