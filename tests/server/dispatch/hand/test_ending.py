"""How a hand's inputs fail, and how insistently what it holds is released."""

from collections.abc import Sequence
from uuid import UUID

import pytest

from schemas.inputs.bodies import AnyInput, Operation, PressKeys
from schemas.inputs.outcomes import (
    Completed,
    Expired,
    Failed,
    NotCarriedOut,
    Outcome,
    Point,
    Refused,
    Unknown,
)
from server.dispatch import refusals
from server.dispatch.command import CommandReply, Ended, Pending
from server.dispatch.hand import ending
from server.dispatch.hand.ending import Failure, ReleasedAtEnd, failure_of


def ended(outcome: Outcome) -> Ended:
    return Ended(
        command_id=UUID(int=1),
        machine_id="desk-1",
        operation=Operation.KEYBOARD_KEY,
        accepted_at=1,
        ended_at=2,
        request_id="r",
        minimal=True,
        outcome=outcome,
    )


BUSY = Failure(refusals.busy("inputs"))
THEIRS = Failure(ended(Failed(code="already_down", message="held", injected_at_least=0)))
OVER = Failure(refusals.control_ended())


def test_what_was_completed_is_no_failure() -> None:
    assert failure_of(ended(Completed(duration_ms=1, pointer=Point(x=0, y=0)))) is None


@pytest.mark.parametrize(
    ("reply", "something_happened", "is_refused_for_good"),
    [
        (THEIRS.reply, False, True),
        (ended(Failed(code="c", message="m", injected_at_least=1)), True, True),
        (ended(Unknown()), True, False),
        (ended(Expired()), False, False),
        (ended(NotCarriedOut()), False, False),
        (ended(Refused(code="no_key", message="none")), False, True),
        (Pending(command_id=UUID(int=1)), True, False),
        (OVER.reply, False, True),
        (refusals.unknown_machine("desk-1"), False, True),
        (BUSY.reply, False, False),
        (refusals.unavailable("offline", "gone", None), False, False),
        (refusals.storage_unavailable("away"), False, False),
    ],
)
def test_failure_says_whether_anything_happened(
    reply: CommandReply, something_happened: bool, is_refused_for_good: bool
) -> None:
    failure = failure_of(reply)
    assert failure is not None
    assert failure.something_happened is something_happened
    assert failure.is_refused_for_good is is_refused_for_good
    assert failure.is_control_ended is (reply == OVER.reply)


async def released(
    buttons: Sequence[str],
    keys: Sequence[str],
    answers: Sequence[Failure | None],
    anew: Sequence[str] = (),
) -> list[object]:
    """What is sent to release this, with these answers, while keys are held anew."""
    sent: list[object] = []
    left = list(answers)

    async def send(body: AnyInput) -> Failure | None:
        said = body.model_dump()
        assert said["down"] is False
        sent.append(said.get("text") or said["button"])
        return left.pop(0) if left else None

    def is_held_anew(release: AnyInput) -> bool:
        return isinstance(release, PressKeys) and any(
            key in anew for key in release.text.split(" ")
        )

    releasing = ReleasedAtEnd([*buttons], [*keys], send, is_held_anew)  # type: ignore[list-item]
    await releasing.run()
    await releasing.until_done()
    return sent


async def test_release_is_tried_until_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "AGAIN_SECONDS", 0.001)
    assert await released(["left"], ["a", "b"], []) == ["a b", "left"]
    assert await released(["left"], [], [BUSY, BUSY]) == ["left"] * 3
    assert await released([], ["a", "b"], [THEIRS, THEIRS]) == ["a b", "b", "a"]
    assert await released(["left"], ["a", "b"], [OVER, OVER]) == ["a b", "left"]
    assert await released([], ["a", "b", "c"], [], anew=["b"]) == ["c", "a"]
    many = [f"f{number}" for number in range(1, 25)] * 2
    assert await released([], many, []) == [" ".join(many[:32]), " ".join(many[32:])]
    monkeypatch.setattr(ending, "RELEASE_SECONDS", 0.0)
    assert await released(["left"], [], [BUSY]) == ["left"]
