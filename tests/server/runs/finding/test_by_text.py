"""Targets by their texts, on a machine of which the test says what is read."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from schemas.inputs.sights import Place
from schemas.steps.step import Step, Target
from schemas.values.pictures import Region
from server.dispatch.questions.pictures import FindRecorded, PlacesFound
from server.dispatch.questions.question import Question
from server.dispatch.refusals import no_vision, unavailable
from server.runs.finding import Found, Halt
from server.runs.finding.finding import look
from server.vision.findings import PlaceFound

CROP = {"picture": "0" * 64, "area": {"x": 0, "y": 0, "width": 320, "height": 160}}
CLICK = Step(operation="mouse.click", body={"x": 100, "y": 60}, target=Target(crop=CROP))
READ = PlaceFound(
    at=Region(400, 300, 60, 24),
    scale=1.5,
    similarity=0.99,
    line=1.0,
    around=0.8,
    was=Region(90, 52, 40, 16),
)


class Read:
    """A machine on which nothing looks the same, and these texts are read."""

    organization_id = UUID(int=1)
    machine_id = "desk-1"

    def __init__(self, *places: PlaceFound, can_look: bool = True) -> None:
        self.places = places
        self.can_look = can_look
        self.asked: list[FindRecorded] = []

    async def ask(self, question: Question[Any]) -> Any:
        if not isinstance(question, FindRecorded):
            return unavailable("no_screen", "it is locked", None)
        if not self.can_look:
            return no_vision("nothing is installed")
        self.asked.append(question)
        return PlacesFound(places=() if question.text_at is None else self.places)

    async def recorded(self, picture_id: str) -> bytes | None:
        return None


def reasons(found: Sequence[Found | Halt]) -> list[str | None]:
    return [each.reason if isinstance(each, Halt) else None for each in found]


async def test_text_is_sought_last_and_its_place_is_scaled() -> None:
    machine = Read(READ)
    found = await look(machine, CLICK, scale=1.0)
    assert isinstance(found, Found)
    assert (found.how, found.score, found.at) == ("text", 0.8, READ.at)
    assert (found.body, found.scale) == ({"x": 415, "y": 312}, None)
    assert [each.text_at for each in machine.asked] == [None, Place(x=100, y=60)]


async def test_other_or_several_lines_halt() -> None:
    other = READ.model_copy(update={"line": 0.67})
    alone = READ.model_copy(update={"around": 0.3})
    found = [await look(Read(*places), CLICK) for places in ((other,), (alone,), (READ, READ), ())]
    assert reasons(found) == ["surroundings", "surroundings", "ambiguous", "missing"]


async def test_way_is_not_found_by_the_text_at_its_beginning() -> None:
    body = {"start_x": 100, "start_y": 60, "to_x": 200, "to_y": 60}
    drag = Step(operation="mouse.drag", body=body, target=Target(crop=CROP))
    machine = Read(READ)
    assert reasons([await look(machine, drag)]) == ["missing"]
    assert [each.text_at for each in machine.asked] == [None]


async def test_server_without_vision_and_node_of_before_halt_with_words() -> None:
    found = await look(Read(can_look=False), CLICK)
    assert isinstance(found, Halt)
    assert (found.reason, "nothing is installed" in found.why) == ("cannot_look", True)
    # It took the question for one about the picture.
    assert reasons([await look(Read(READ.model_copy(update={"was": None})), CLICK)]) == ["missing"]
