"""What a machine's screen shows: elements that are named by marks, and texts that are waited for.

Where an element is, whether there are two, whether it vanishes once it was found, and when a text
appears, is planned before a life begins, with dice of its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, NoReturn, Protocol

from machine_client.desktop.base import (
    DesktopError,
    FoundElement,
    NoElements,
    RawFrame,
    Refusal,
)
from machine_client.screen.sender import ActionPlace, Sight
from machine_client.screen.showing import VISION_UNAVAILABLE
from machine_client.work.batch import Sighted
from schemas.inputs.actions import Actions, InputAction, Pause, WaitFor
from schemas.inputs.bodies import AnyInput, InvokeElement, MouseInput, MoveMouse
from schemas.inputs.outcomes import ElementRefusal, Point, Refused
from schemas.inputs.selectors import Selector
from schemas.inputs.sights import TextShown
from tests.simulation.inputs import LET_GO, mark_of

Shown = Literal["is there", "is missing", "is there twice", "vanishes"]

CHANCES: Mapping[Shown, int] = {
    "is there": 80,
    "is missing": 6,
    "is there twice": 4,
    "vanishes": 10,
}
"""In a hundred."""

BY_ELEMENT, FOR_TEXT = 0.5, 0.7
"""How many inputs of the mouse name an element, and how many pauses wait for a text."""


@dataclass(frozen=True)
class Text:
    """A text that appears after so many seconds, if it does, and if somebody can look for it."""

    after: float | None
    is_looked_for: bool = True

    def is_seen_within(self, seconds: float) -> bool:
        """Whether whoever waits so long sees it."""
        return self.is_looked_for and self.after is not None and self.after < seconds


class ShownElements(NoElements):
    """A desktop's elements; ``shown`` says how one is that a mark names."""

    def __init__(self, shown: Callable[[int], Shown | None]) -> None:
        super().__init__("")
        self._shown = shown

    def find(self, selector: Selector, *, place: bool) -> FoundElement:  # type: ignore[override]
        mark = int(str(selector.name))
        match self._shown(mark):
            case "is missing":
                _refuse("element_missing")
            case "is there twice":
                _refuse("element_ambiguous")
        return FoundElement(mark, None, Point(x=mark, y=0) if place else None)

    def look_again(self, found: FoundElement) -> FoundElement:  # type: ignore[override]
        if isinstance(found.handle, int) and self._shown(found.handle) == "vanishes":
            _refuse("element_missing")
        return found

    def invoke(self, found: FoundElement) -> None:  # type: ignore[override]
        """Its events are the hand's to make."""


def _refuse(code: ElementRefusal) -> NoReturn:
    raise Refusal(Refused(code=code, message="it is not there", loc=("body", "element")))


class Waiter(Protocol):
    """Who waits."""

    def pass_time(self, seconds: float, is_over: Callable[[], bool] = bool) -> None:
        """Let time pass; less where it is over before."""


class Eyes:
    """See `machine_client.work.batch.Eyes`: sees texts when they are there, and nothing else."""

    def __init__(self, texts: Mapping[str, Text], waiter: Waiter) -> None:
        self._texts = texts
        self._waiter = waiter

    def check(self, wanted: Sighted) -> None:
        """All of it can be seen."""

    def frame(self) -> RawFrame:
        """Nobody waits for a change."""
        raise NotImplementedError

    def wait_for(
        self,
        place: ActionPlace,
        wait: WaitFor,
        before: RawFrame | None,
        is_interrupted: Callable[[], bool],
    ) -> Sight:
        text = self._texts[text_of(wait)]
        seconds = min(wait.timeout, text.after or wait.timeout)
        if not is_interrupted():
            self._waiter.pass_time(seconds, is_interrupted)
        if not text.is_looked_for:
            raise DesktopError(VISION_UNAVAILABLE, "nobody looks for texts")
        is_seen = text.is_seen_within(wait.timeout) and not is_interrupted()
        return Sight(0 if is_seen else None, None, seconds)

    def take(self, *_: object) -> None:
        """Nobody wants a picture."""

    def close(self) -> None:
        """Nothing to let go of."""


def text_of(wait: WaitFor) -> str:
    """What is waited for."""
    (condition,) = wait.any
    if not isinstance(condition, TextShown):
        raise TypeError(f"the simulation waits for no {condition!r}")
    return condition.text


def by_element(body: AnyInput, dice: Random) -> tuple[AnyInput, Shown | None]:
    """The same input, perhaps at an element, and how that is shown then."""
    if not isinstance(body, MouseInput) or mark_of(body) == LET_GO or dice.random() > BY_ELEMENT:
        return body, None
    (shown,) = dice.choices([*CHANCES], [*CHANCES.values()])
    element = {"name": f"{mark_of(body)}"}
    if isinstance(body, MoveMouse) and dice.random() < 0.5:
        return InvokeElement.model_validate({"element": element}), shown
    (x, y), field = body.place_fields[0], body.element_fields[0]
    told = {**body.model_dump(), x: None, y: None, field: element}
    return type(body).model_validate(told), shown


def with_sights(
    body: Actions, dice: Random, texts: dict[str, Text], shown: dict[int, Shown]
) -> Actions:
    """The same actions, some at elements, and waits for texts in the place of some pauses."""
    actions: list[dict[str, Any]] = []
    for action in body.actions:
        told = action.model_dump()
        if isinstance(action, Pause) and dice.random() < FOR_TEXT:
            name = f"text {len(texts)}"
            texts[name] = dice.choice(
                (Text(0.0), Text(action.seconds / 2), Text(None), Text(None, is_looked_for=False))
            )
            told = {
                "operation": "wait_for",
                "any": [{"text": name}],
                "timeout": action.seconds,
                "on_timeout": dice.choice(("stop", "continue")),
            }
        elif isinstance(action, InputAction):
            changed, how = by_element(action, dice)
            if how is not None:
                shown[mark_of(changed)] = how
                told = {**changed.model_dump(), "operation": changed.input_name}
        actions.append(told)
    return Actions.model_validate({"actions": actions})
