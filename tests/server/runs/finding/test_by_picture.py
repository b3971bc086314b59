"""Where keys go to by the picture of what was clicked before them."""

from typing import Any
from uuid import UUID

import pytest

from schemas.inputs.sights import Place
from schemas.steps.step import Step, Target
from schemas.values.pictures import Region
from server.dispatch.questions.pictures import FindRecorded, PlacesFound, TypedText
from server.dispatch.questions.question import Question
from server.dispatch.refusals import unavailable
from server.runs.finding import Found, Halt
from server.runs.finding.by_picture import chosen
from server.runs.finding.finding import look
from server.vision.findings import PlaceFound
from tests.server.runs.finding.test_by_text import CROP

PLACE = {"place": {"x": 160, "y": 80}}
SEEN = PlaceFound(at=Region(0, 64, 320, 32), scale=1.0, similarity=1.0, line=1.0, around=1.0)
CARET = SEEN.model_copy(update={"line": 0.97})


class Shown:
    """A machine that shows these places, one look after another."""

    organization_id = UUID(int=1)
    machine_id = "desk-1"

    def __init__(self, *looks: tuple[PlaceFound, ...]) -> None:
        self.looks = list(looks)
        self.asked: list[FindRecorded] = []

    async def ask(self, question: Question[Any]) -> Any:
        if not isinstance(question, FindRecorded):
            return unavailable("no_screen", "it is locked", None)
        self.asked.append(question)
        return PlacesFound(places=self.looks.pop(0) if self.looks else ())

    async def recorded(self, picture_id: str) -> bytes | None:
        return None


@pytest.mark.parametrize(
    ("looks", "reason"),
    [
        ([(SEEN,)], None),
        ([(CARET,), (SEEN,)], None),
        ([(CARET,), (CARET,)], "focus"),
        ([(SEEN, SEEN)], "focus"),
        ([], "focus"),
    ],
    ids=["as it was", "with a caret", "another line", "twice", "gone"],
)
async def test_keys_are_sent_where_what_was_clicked_looks_as_it_did(
    looks: list[tuple[PlaceFound, ...]], reason: str | None
) -> None:
    machine = Shown(*looks)
    step = Step(
        operation="keyboard.type",
        body={"text": "7"},
        target=Target.model_validate({"crop": CROP | PLACE}),
    )
    found = await look(machine, step)
    assert (found.reason if isinstance(found, Halt) else None) == reason
    assert all(each.for_keys for each in machine.asked)
    if isinstance(found, Found):
        assert (found.how, found.body) == ("picture", {"text": "7"})


def test_places_of_which_nothing_is_as_it_was_could_not_be_meant() -> None:
    other = SEEN.model_copy(update={"line": 0.4, "around": 0.3})
    elsewhere = SEEN.model_copy(update={"around": 0.0004})
    halt = chosen((other, elsewhere))
    assert isinstance(halt, Halt)
    assert halt.reason == "surroundings"
    assert [each.score for each in halt.candidates] == [0.3]


async def test_keys_of_which_nothing_is_known_are_sent() -> None:
    step = Step(operation="keyboard.type", body={"text": "7"}, target=Target.model_validate({}))
    found = await look(Shown(), step)
    assert isinstance(found, Found)
    assert found.how == "none needed"


TYPED = TypedText(before="a" * 64, after="b" * 64)


async def test_keys_look_beside_the_pointer_and_what_was_typed() -> None:
    machine = Shown((SEEN,))
    step = Step(
        operation="keyboard.type",
        body={"text": "7"},
        target=Target.model_validate({"crop": CROP | PLACE}),
    )
    assert isinstance(await look(machine, step, None, (TYPED,)), Found)
    (asked,) = machine.asked
    assert asked.rested == Place(x=160, y=80)
    assert asked.typed == (TYPED,)


@pytest.mark.parametrize(
    ("looks", "typed", "asked"),
    [([(SEEN,)], [TYPED], 1), ([(CARET,), (SEEN,)], [TYPED], 2), ([(CARET,)], [], 1)],
    ids=["as it was", "another text", "nothing typed"],
)
async def test_what_was_typed_is_left_out_where_a_target_is_not_as_it_was(
    looks: list[tuple[PlaceFound, ...]], typed: list[TypedText], asked: int
) -> None:
    machine = Shown(*looks)
    step = Step(
        operation="mouse.click",
        body={"x": 160, "y": 80},
        target=Target.model_validate({"crop": CROP}),
    )
    found = await look(machine, step, None, typed)
    assert isinstance(found, Found) is (looks[-1] == (SEEN,))
    assert [bool(each.typed) for each in machine.asked] == [False, True][:asked]
