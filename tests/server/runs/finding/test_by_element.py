"""Targets by elements on a machine that the test plays, for what real ones seldom show."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from schemas.inputs.selectors import Selector, Sought
from schemas.link.element_messages import MAX_ELEMENTS, SeenElement
from schemas.steps.step import Step, Target
from schemas.values.pictures import Region
from server.clock import server_time
from server.dispatch.here.neighbours import around, is_like
from server.dispatch.questions.elements import ElementsFound, FindElements
from server.dispatch.questions.pictures import FindRecorded
from server.dispatch.questions.question import Question, Refusal
from server.dispatch.questions.screens import TakeScreenshot
from server.dispatch.refusals import (
    busy,
    just_disconnected,
    no_elements,
    no_screen,
    no_vision,
    without_elements,
)
from server.runs.finding import Found, Halt, find
from server.runs.finding.finding import look
from tests.told_elements import element

SAVE = Selector(role="push button", name="Save")


@dataclass
class Played:
    """A machine that has these elements, and no screen; ``most`` are told at once."""

    elements: list[SeenElement]
    most: int = MAX_ELEMENTS
    refusal: Refusal | None = None
    asked: list[FindElements] = field(default_factory=list)
    before: Callable[["Played"], None] = lambda _: None

    organization_id = UUID(int=1)
    machine_id = "desk-1"

    async def ask(self, question: Question[Any]) -> Any:
        if not isinstance(question, FindElements):
            return no_screen("it is locked", None)
        if self.refusal is not None:
            return self.refusal
        self.asked.append(question)
        self.before(self)
        like = [each for each in self.elements if is_like(each, question.sought)]
        most = min(self.most, question.limit)
        return ElementsFound(
            elements=like[:most],
            selectors=[Selector(ref=each.ref) for each in like[:most]],
            truncated="limit" if len(like) > most else None,
            silent=[],
        )

    async def recorded(self, picture_id: str) -> bytes | None:
        return None


def row(number: int, **others: Any) -> list[SeenElement]:
    """A label, and the button behind it."""
    top, ref = 40 * number, f"row-{number}"
    label = element("label", f"Order {number}", bounds=Region(0, top, 80, 30), ref=f"label-{ref}")
    return [label, element(bounds=Region(100, top, 80, 30), ref=ref, **others)]


BOUNDS = Region(100, 80, 80, 30)
ROWS = [*row(1), *row(2), *row(3)]


def click(selector: Selector = SAVE, of: SeenElement = ROWS[3], **said: Any) -> Step:
    """A click at the button of the second line."""
    target = Target(element=selector, box=of.bounds and {**of.bounds._asdict()}, **said)
    return Step(operation="mouse.click", body={"x": 140, "y": 95}, target=target)


async def test_line_decides_also_where_not_all_is_told_at_once() -> None:
    many = [element("label", f"Note {number}", ref=f"note-{number}") for number in range(20)]
    machine = Played([*ROWS, *many], most=10)
    found = await look(machine, click(around=around(ROWS[3], ROWS)))
    assert isinstance(found, Found), found
    assert found.body == {"element": {"ref": "row-2"}}
    alike = Played([*many, *[each for number in range(60) for each in row(number)]], most=10)
    halt = await look(alike, click(around=around(ROWS[3], ROWS)))
    assert isinstance(halt, Halt)
    assert (halt.reason, halt.why[:27]) == ("ambiguous", "too many elements are like ")


async def test_element_of_another_window_is_named_and_not_taken() -> None:
    other = [each.model_copy(update={"window": "Mail"}) for each in row(2)]
    halt = await look(Played(other), click(around=around(ROWS[3], ROWS)))
    assert isinstance(halt, Halt)
    assert halt.reason == "surroundings"
    assert halt.expected[0] == "the window Invoice 4711"
    assert halt.candidates[0].box == ROWS[3].bounds


async def test_screen_that_is_about_to_come_is_waited_for() -> None:
    def come(machine: Played) -> None:
        if len(machine.asked) > 2:
            machine.elements = ROWS

    found = await find(Played([], before=come), click(around=around(ROWS[3], ROWS)))
    assert isinstance(found, Found)
    assert found.body == {"element": {"ref": "row-2"}}


class Resized(Played):
    """A machine that shows nothing when it is first asked."""

    async def ask(self, question: Question[Any]) -> Any:
        answer = await super().ask(question)
        if isinstance(question, FindElements) and len(self.asked) == 1:
            return no_screen("it was resized", server_time())
        return answer


async def test_screen_that_shows_nothing_for_a_moment_is_looked_at_again() -> None:
    step = click(around=around(ROWS[3], ROWS))
    assert isinstance(await look(Resized(ROWS), step), Halt)
    assert isinstance(await find(Resized(ROWS), step), Found)


async def test_screen_that_came_during_a_long_look_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("server.runs.finding.finding.PATIENCE_SECONDS", {"missing": 0.01})

    def come(machine: Played) -> None:
        time.sleep(0.02)
        if len(machine.asked) > 2:
            machine.elements = ROWS

    found = await find(Played([], before=come), click(around=around(ROWS[3], ROWS)))
    assert isinstance(found, Found)


@pytest.mark.parametrize(
    ("role", "was", "now", "reason"),
    [
        ("check box", [], [], None),
        ("check box", [], ["checked"], "surroundings"),
        ("check box", ["checked"], [], "surroundings"),
        ("toggle button", ["pressed"], ["pressed"], None),
        ("toggle button", [], ["pressed"], "surroundings"),
        ("radio button", [], ["checked"], None),
    ],
)
async def test_what_is_checked_already_is_not_clicked_again(
    role: str, was: list[str], now: list[str], reason: str | None
) -> None:
    before, after = (
        element(role, "Urgent", states=["enabled", *states], ref="urgent", bounds=BOUNDS)
        for states in (was, now)
    )
    step = click(Selector(role=role, name="Urgent"), before, around=around(before, [before]))
    found = await look(Played([after]), step)
    assert (found.reason if isinstance(found, Halt) else None) == reason


async def test_place_that_is_not_sure_yet_is_looked_for_again() -> None:
    def settle(machine: Played) -> None:
        if len(machine.asked) > 1:
            machine.elements = ROWS

    unplaced = [each.model_copy(update={"bounds": None}) for each in ROWS]
    found = await look(Played(unplaced, before=settle), click(around=around(ROWS[3], ROWS)))
    assert isinstance(found, Found)
    never = await look(Played(unplaced[2:4]), click())
    assert isinstance(never, Halt)
    assert never.reason == "not_usable"


@pytest.mark.parametrize(
    ("bounds", "came"),
    [(Region(300, 200, 80, 30), {"x": 340, "y": 215}), (Region(300, 200, 90, 30), "surroundings")],
)
async def test_place_within_a_drawing_counts_and_needs_its_size(bounds: Region, came: Any) -> None:
    drawing = element("drawing area", "Plan", bounds=bounds)
    step = click(Selector(role="drawing area", name="Plan"))
    found = await look(Played([drawing]), step)
    assert (found.body if isinstance(found, Found) else found.reason) == came


async def test_machine_without_elements_says_so_unless_there_is_a_picture() -> None:
    machine = Played([], refusal=without_elements("it has none"))
    halt = await look(machine, click())
    assert isinstance(halt, Halt)
    assert (halt.reason, halt.refusal) == ("cannot_look", machine.refusal)
    crop = {"picture": "0" * 64, "area": {"x": 0, "y": 0, "width": 320, "height": 160}}
    unseen = await look(machine, click(crop=crop))
    assert isinstance(unseen, Halt)
    assert unseen.why == "the machine shows no screen: it is locked"


@pytest.mark.parametrize(
    ("states", "value", "reason"),
    [
        (["enabled", "focused", "editable"], "", None),
        (["enabled", "focused", "editable"], "old", "surroundings"),
        (["enabled", "editable"], "", "focus"),
    ],
)
async def test_keys_are_for_the_element_that_had_the_focus(
    states: list[str], value: str, reason: str | None
) -> None:
    field_ = element("entry", "Total", states=states, value=value)
    recorded = around(field_, [field_]).model_copy(update={"is_empty": True})
    target = Target(element=Selector(role="entry", name="Total"), around=recorded)
    step = Step(operation="keyboard.type", body={"text": "7"}, target=target)
    found = await look(Played([field_]), step)
    assert (found.reason if isinstance(found, Halt) else None) == reason
    if reason is None:
        other = element("entry", "Other", ref="other", states=states)
        elsewhere = await look(Played([other]), step)
        assert isinstance(elsewhere, Halt)
        assert "without role 'entry' name 'Total'" in elsewhere.why


async def test_place_in_a_smaller_picture_is_not_taken_alone() -> None:
    body = {"x": 3, "y": 4, "in": {"width": 640, "height": 400}}
    target = Target(element=SAVE)
    halt = await look(Played(ROWS), Step(operation="mouse.click", body=body, target=target))
    assert isinstance(halt, Halt)
    assert halt.reason == "unfindable"
    assert isinstance(await look(Played([]), Step(operation="mouse.click", body=body)), Found)


def test_sought_of_all_is_all() -> None:
    assert all(is_like(each, Sought()) for each in ROWS)


class Unread(Played):
    """A machine whose pictures nobody looks at."""

    async def ask(self, question: Question[Any]) -> Any:
        if isinstance(question, FindRecorded):
            return no_vision("what it takes is not installed")
        return await super().ask(question)


async def test_element_that_has_gone_is_missing_also_where_nobody_looks_for_pictures() -> None:
    crop = {"picture": "0" * 64, "area": {"x": 0, "y": 0, "width": 320, "height": 160}}
    gone = click(Selector(role="push button", name="Gone"), crop=crop)
    halt = await find(Unread(ROWS), gone)
    assert isinstance(halt, Halt)
    assert halt.reason == "missing"


@dataclass
class Moving(Played):
    """A machine on its way from one node to another: these are the first answers."""

    refusals: list[Refusal] = field(default_factory=list)
    pictures: int = 0

    async def ask(self, question: Question[Any]) -> Any:
        self.pictures += isinstance(question, TakeScreenshot)
        if self.refusals and isinstance(question, FindElements):
            return self.refusals.pop(0)
        return await super().ask(question)


async def test_look_that_nobody_answered_is_begun_again() -> None:
    lost = no_elements("its node did not answer in time", None)
    machine = Moving(row(1), refusals=[lost, busy("looks")])
    assert isinstance(await find(machine, click()), Found)


async def test_machine_that_is_away_is_told_as_such_at_once() -> None:
    machine = Moving(ROWS, refusals=[just_disconnected()])
    halt = await find(machine, click())
    assert isinstance(halt, Halt)
    assert (halt.is_away, halt.reason, machine.pictures) == (True, "cannot_look", 0)


async def test_who_has_shown_nothing_for_a_while_is_not_asked_again() -> None:
    long_ago = server_time() - 60_000
    machine = Moving(ROWS, refusals=[no_elements("it is locked", long_ago)])
    halt = await find(machine, click())
    assert isinstance(halt, Halt)
    assert (halt.is_away, halt.reason, machine.asked) == (False, "cannot_look", [])
