"""Holds what became of a run against the form's own record: nothing twice, nothing unchecked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from tests.batches import Violation
from tests.run_kills.desk import Entered
from tests.run_kills.orders import Act
from tests.run_kills.person import Followed, Halt


class Broken(StrEnum):
    """What must not be."""

    TWICE = "a step was done twice"
    AFTER_HALT = "something was done after a halt"
    LEFT_OUT = "a step that is told as done was not"
    DISORDER = "steps were done in another order"
    LOST = "a run has no end"
    ENDED = "a run did not end well"
    HISTORY = "a run tells of other steps than it has"
    ASKED = "people are asked to help a run that has ended"
    REFUSED = "a halted run could not be continued"


@dataclass(frozen=True)
class _Done:
    """A step that the record has, from its first line to its last; ``texts`` are what it typed."""

    step: int
    first: float
    last: float
    texts: tuple[str, ...]
    count: int


def judged(run: Followed, acts: Sequence[Act]) -> Iterator[Violation]:
    """All that is broken in a run."""
    for broken, detail in _broken(run, acts):
        yield Violation(broken, f"run {run.number} of {run.desk}, {run.id}: {detail}")


def _broken(run: Followed, acts: Sequence[Act]) -> Iterator[tuple[Broken, str]]:
    yield from ((Broken.REFUSED, each) for each in run.refused)
    if run.view["ended_at"] is None:
        yield Broken.LOST, f"it is {run.view['status']}, halted: {run.view['halted']}"
        return
    if run.view["status"] != "success":
        yield Broken.ENDED, f"{run.view['status']}: {run.view['error']}"
    done = {number: _done(number, act, run.entered) for number, act in enumerate(acts, 1)}
    yield from _of_steps(run, acts, done)
    there = [each for each in done.values() if each is not None]
    for one, next_ in pairwise(there):
        if one.last > next_.first:
            yield Broken.DISORDER, f"steps {one.step} and {next_.step}"
    for halt in run.halts:
        yield from _after(halt, there)


def _of_steps(
    run: Followed, acts: Sequence[Act], done: dict[int, _Done | None]
) -> Iterator[tuple[Broken, str]]:
    told = run.view["steps"]
    if [each["number"] for each in told] != list(range(1, len(acts) + 1)):
        yield Broken.HISTORY, str([each["number"] for each in told])
        return
    # Somebody has seen that it did not come true, and had it go on behind it.
    given_up = {halt.step for halt in run.halts if halt.is_done and halt.said.get("skip")}
    for each, act in zip(told, acts, strict=True):
        found = done[each["number"]]
        is_promised = each["status"] == "done" and each["number"] not in given_up
        if found is None:
            if is_promised:
                yield Broken.LEFT_OUT, str(each)
        elif act.text is None:
            if found.count > 1:
                yield Broken.TWICE, f"{found}, told: {each}"
        else:
            wanted = [act.text[: length + 1] for length in range(len(act.text))]
            if [*found.texts] != wanted[: len(found.texts)]:
                yield Broken.TWICE, f"{found}, told: {each}"
            if is_promised and [*found.texts] != wanted:
                yield Broken.LEFT_OUT, f"{found}, told: {each}"


def _after(halt: Halt, there: Sequence[_Done]) -> Iterator[tuple[Broken, str]]:
    """What was done while a run was halted, of which its last try may still be heard."""
    for each in there:
        is_its_own = each.step == halt.step and (halt.is_done or halt.is_unknown)
        if halt.at < each.last <= halt.until and each.step >= halt.step and not is_its_own:
            yield Broken.AFTER_HALT, f"{each}, {halt}"


def _done(step: int, act: Act, entered: Sequence[Entered]) -> _Done | None:
    those = [
        each
        for each in entered
        if each.row == act.row and (each.text is None) == (act.text is None)
    ]
    if not those:
        return None
    texts = tuple(each.text for each in those if each.text is not None)
    return _Done(step, those[0].at, those[-1].at, texts, len(those))
