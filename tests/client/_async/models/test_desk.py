"""A model's turns on a machine, whatever a server says of them."""

import base64
import json
from collections.abc import Sequence
from typing import Any

import pytest

from farhand import AsyncFarhand, InvalidRequest, MachineUnavailable, actions
from farhand._async.models.desk import AsyncDesk
from farhand._models import phrases
from farhand._models.steps import LOOK, Outcome, Step
from tests.client.scripted_server import Asked, answer, problem, result, scripted_server

CLICK = Step((actions.click(10, 20),))
OTHER = Step((actions.click(30, 40),))
TYPE = Step((actions.type("hello"),))
POINTER = Step(asks_pointer=True)
ZOOM = Step(looks=True, region=(0, 0, 10, 10))


def picture(content: bytes = b"now", width: int = 640, height: int = 400) -> dict[str, Any]:
    """A picture in an answer, of a desktop of 1280 x 800."""
    region = {"x": 0, "y": 0, "width": 1280, "height": 800}
    data = base64.b64encode(content).decode()
    size = {"width": width, "height": height}
    return {"format": "png", **size, "region": region, "content": data}


def ends(*statuses: str) -> list[dict[str, Any]]:
    return [{"operation": "mouse.click", "status": status} for status in statuses]


def done(*statuses: str, **more: Any) -> bytes:
    """The answer where all was carried out."""
    return answer(200, result(operation="actions", actions=ends(*statuses), **more))


def wrong(kind: str, *place: str) -> bytes:
    entry = {"loc": ["body", "actions", *place], "msg": "is wrong", "type": kind}
    return answer(422, {"detail": [entry]})


SEEN = answer(200, {"matched": 0, "at": None, "elapsed": 0.3, "screenshot": picture()})


async def carried_out(
    steps: Sequence[Step], *answers: bytes, grid: tuple[int, int] | None = None
) -> tuple[list[Outcome], list[Asked]]:
    """The outcomes of a turn by a server with these answers, and what it was asked."""
    with scripted_server(*answers) as server:
        async with AsyncFarhand(server.url, "token", wait_for_machine=False) as client:
            desk = AsyncDesk(client.machine("reception"), 640, grid)
            return await desk.carry_out(steps), server.asked


def sent(asked: Asked) -> list[dict[str, Any]]:
    return list(json.loads(asked.body)["actions"])


async def test_places_are_pixels_of_what_the_model_sees() -> None:
    outcomes, (look, acted) = await carried_out([CLICK, TYPE], SEEN, done("completed", "completed"))
    assert outcomes == [Outcome(), Outcome()]
    assert look.path.endswith("/wait")
    assert json.loads(look.body)["screenshot"] == {"width": 640, "height": 640}
    assert sent(acted)[0]["in"] == {"width": 640, "height": 400}
    assert "in" not in sent(acted)[1]
    assert acted.key


async def test_places_of_a_grid_need_no_look() -> None:
    drag = Step((actions.drag(0, 0, 999, 999),))
    _, (acted,) = await carried_out([drag], done("completed"), grid=(1000, 1000))
    assert sent(acted)[0]["in"] == {"width": 1000, "height": 1000}


async def test_step_that_is_wrong_leaves_those_before_it_done() -> None:
    outcomes, asked = await carried_out(
        [TYPE, CLICK, OTHER],
        *(SEEN, wrong("outside_picture", "1", "x"), done("completed")),
    )
    assert outcomes == [Outcome(), Outcome(phrases.OUTSIDE), Outcome(phrases.NOT_EXECUTED)]
    assert [len(sent(each)) for each in asked[1:]] == [3, 1]
    assert asked[1].key != asked[2].key


async def test_failure_before_a_step_that_is_wrong_is_the_first() -> None:
    failed = problem("input-failed", 502, final=True, completed=0, actions=ends("failed"))
    outcomes, _ = await carried_out([TYPE, TYPE], wrong("text_not_typeable", "1", "text"), failed)
    assert outcomes == [Outcome(phrases.FAILED), Outcome(phrases.NOT_EXECUTED)]


@pytest.mark.parametrize(
    ("said", "phrases"),
    [
        (
            problem(
                "input-failed",
                502,
                final=True,
                completed=1,
                actions=ends("completed", "interrupted", "not_begun"),
            ),
            [None, phrases.INTERRUPTED, phrases.NOT_EXECUTED],
        ),
        (
            problem(
                "outcome-unknown",
                502,
                final=True,
                completed=1,
                actions=ends("completed", "unknown", "not_begun"),
            ),
            [None, phrases.UNKNOWN, phrases.NOT_EXECUTED],
        ),
        (
            problem("outcome-unknown", 502, final=True, completed=None, actions=None),
            [phrases.UNKNOWN] * 3,
        ),
        (
            problem("input-expired", 504, final=True),
            [phrases.NOT_BEGUN, *[phrases.NOT_EXECUTED] * 2],
        ),
        (
            problem("not-carried-out", 503, final=True),
            [phrases.NOT_BEGUN, *[phrases.NOT_EXECUTED] * 2],
        ),
    ],
)
async def test_how_a_turn_ends(said: bytes, phrases: list[str | None]) -> None:
    outcomes, asked = await carried_out([TYPE, TYPE, TYPE], said)
    assert [each.failure for each in outcomes] == phrases
    assert len(asked) == 1


async def test_pictures_that_an_answer_lacks_are_taken_now() -> None:
    lost = answer(200, result(operation="actions", actions=ends("completed"), screenshot=None))
    (_, shown), asked = await carried_out([TYPE, LOOK], lost, SEEN)
    assert shown.picture is not None
    assert shown.picture.data == b"now"
    assert [each.path.rpartition("/")[2] for each in asked] == ["actions", "wait"]


async def test_picture_that_is_left_out_is_asked_for_alone() -> None:
    why = answer(
        200, {"matched": 0, "at": None, "elapsed": 0.3, "screenshot": {"left_out": "no screen"}}
    )
    away = problem("machine-unavailable", 503, reason="no_screen")
    with pytest.raises(MachineUnavailable) as caught:
        await carried_out([LOOK], why, away)
    assert caught.value.reason == "no_screen"
    taken = answer(
        200,
        b"alone",
        media="image/png",
        Farhand_Screen_Region="0,0,10,10",
        Farhand_Picture_Size="10,10",
    )
    outcomes, asked = await carried_out([ZOOM], SEEN, why, taken)
    assert outcomes[0].picture is not None
    assert outcomes[0].picture.data == b"alone"
    assert "region=0%2C0%2C20%2C20" in asked[-1].path


async def test_pictures_within_a_turn_are_those_of_their_moment() -> None:
    taken = [*ends("completed"), {"operation": "screenshot", "status": "completed"}]
    taken[-1]["picture"] = picture(b"then")
    said = answer(
        200,
        result(operation="actions", actions=[*taken, *ends("completed")], screenshot=picture()),
    )
    first, _, last = (await carried_out([LOOK, TYPE, LOOK], said))[0]
    assert first.picture is not None
    assert last.picture is not None
    assert (first.picture.data, last.picture.data) == (b"then", b"now")


async def test_pointer_is_told_in_the_pixels_of_the_picture() -> None:
    outcomes, _ = await carried_out([POINTER], SEEN, answer(200, {"x": 1279, "y": 2}))
    assert outcomes[0].pointer == (639, 1)


async def test_part_beside_the_picture_is_not_asked_for() -> None:
    beside = Step(looks=True, region=(0, 0, 641, 10))
    outcomes, asked = await carried_out([beside, TYPE], SEEN)
    assert [each.failure for each in outcomes] == [phrases.OUTSIDE, phrases.NOT_EXECUTED]
    assert len(asked) == 1


async def test_what_no_model_can_mend_is_raised() -> None:
    with pytest.raises(MachineUnavailable):
        await carried_out([TYPE], problem("machine-unavailable", 503, reason="offline"))
    entry = {
        "loc": ["header", "Idempotency-Key"],
        "msg": "was used",
        "type": "idempotency_key_reused",
    }
    with pytest.raises(InvalidRequest):
        await carried_out([TYPE], answer(422, {"detail": [entry]}))
