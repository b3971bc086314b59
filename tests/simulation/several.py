"""Whether what was answered of several actions is what the desktop saw of each."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from schemas.inputs.actions import Actions, AnyAction, Pause, WaitFor
from tests.simulation.desktop import Desktop
from tests.simulation.inputs import mark_of, marks_of
from tests.simulation.sights import text_of


class Answered(NamedTuple):
    """A final answer: its status, and what it says of each action, if it says so."""

    status: int
    body: dict[str, Any]

    @classmethod
    def of(cls, status: int, body: bytes) -> "Answered":
        """What an answer's bytes say."""
        return cls(status, json.loads(body))

    @property
    def results(self) -> list[str]:
        """Each action's status; none where nothing is known of any, or nothing happened."""
        return [each["status"] for each in self.body.get("actions") or ()]

    @property
    def is_unknown(self) -> bool:
        """Whether it is said that nobody knows what happened."""
        return str(self.body.get("type", "")).endswith("outcome-unknown")


def broken_of_several(
    sent: Sequence[Actions], answered: Answered | None, desktop: Desktop, *, is_first_life: bool
) -> Iterator[str]:
    """The promises that do not hold of what was sent under a key, or once without one.

    In a key's later life what was begun in an earlier one may be refused, or too late.
    """
    begun = [each for each in sent if any(desktop.happened(mark).begun for mark in marks_of(each))]
    if len(begun) > 1:
        yield f"{len(begun)} bodies of one key were begun"
    if answered is None:
        return
    if not answered.results:
        if begun and is_first_life and not answered.is_unknown:
            yield f"it was begun, and answered {answered}"
        return
    body = begun[0] if begun else _body_with(len(answered.results), sent)
    if body is None or len(body.actions) != len(answered.results):
        yield f"it was answered of other actions: {answered}"
        return
    yield from _broken_form(answered)
    for number, (action, result) in enumerate(zip(body.actions, answered.results, strict=True)):
        for promise in _broken_result(action, result, desktop):
            yield f"action {number} is {result}, and {promise}: {answered}"


def _body_with(actions: int, sent: Sequence[Actions]) -> Actions | None:
    return next((each for each in sent if len(each.actions) == actions), None)


def _broken_form(answered: Answered) -> Iterator[str]:
    """What is done is a beginning, then there is one that is not, and the rest has not begun."""
    results = answered.results
    done = results.count("completed")
    current = [each for each in results[done:] if each != "not_begun"]
    if results[:done] != ["completed"] * done or results[done + len(current) :] != ["not_begun"] * (
        len(results) - done - len(current)
    ):
        yield f"the results have no such order: {results}"
    if len(current) > 1:
        yield f"more than one is neither done nor not begun: {results}"
    if (answered.status == 200) is not (done == len(results)):
        yield f"the status does not fit the results: {answered}"
    if answered.status != 200 and answered.body["completed"] != done:
        yield f"another number is completed: {answered}"
    if ("unknown" in current) is not answered.is_unknown:
        yield f"what is unknown does not fit the results: {answered}"


def _broken_wait(wait: WaitFor, result: str, desktop: Desktop) -> Iterator[str]:
    is_seen = desktop.texts[text_of(wait)].is_seen_within(wait.timeout)
    if result == "completed" and not is_seen and wait.on_timeout == "stop":
        yield "its text was not there"
    if result == "not_seen" and is_seen:
        yield "its text was there"


def _broken_result(action: AnyAction, result: str, desktop: Desktop) -> Iterator[str]:
    if isinstance(action, WaitFor):
        yield from _broken_wait(action, result, desktop)
        return
    if isinstance(action, Pause) or action.operation == "screenshot":
        return
    mark = mark_of(action)
    happened = desktop.happened(mark)
    match result:
        case "completed":
            wanted = desktop.plans[mark].steps
            if happened.ended != 1:
                yield f"it ended {happened.ended} times"
            elif happened.steps != wanted and not happened.is_disturbed:
                yield f"of {wanted} arrived {happened.steps}"
        case "not_begun" | "not_seen":
            if happened.begun:
                yield "its events were begun"
        case "failed" | "interrupted":
            if happened.ended:
                yield "its events were all there"
