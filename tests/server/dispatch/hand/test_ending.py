"""How a hand's inputs fail, and how insistently what it holds is released."""

import json
from collections.abc import Sequence

import pytest

from schemas.http import problems
from schemas.http.problems import InvalidRequestError, ProblemError
from schemas.inputs.bodies import AnyInput, PressKeys
from server.dispatch.hand import ending
from server.dispatch.hand.ending import Failure, ReleasedAtEnd, failure_of
from server.store.errors import StoreUnavailable

BUSY = Failure("machine-busy", "too many")
THEIRS = Failure("input-failed", "somebody holds it", is_refused_for_good=True)
OVER = Failure("control-ended", "over", is_refused_for_good=True)


def problem(name: str, **members: object) -> bytes:
    return json.dumps({"type": f"/problems/{name}", "detail": "why", **members}).encode()


ENDS = [
    ((204, b""), None),
    (
        (502, problem("input-failed", injected_at_least=0)),
        Failure("input-failed", "why", is_refused_for_good=True),
    ),
    (
        (502, problem("input-failed", injected_at_least=1)),
        Failure("input-failed", "why", True, True),
    ),
    (
        (502, problem("outcome-unknown", injected_at_least=0)),
        Failure("outcome-unknown", "why", something_happened=True),
    ),
    ((504, problem("input-expired")), Failure("input-expired", "why")),
    (
        (422, json.dumps({"detail": [{"type": "no_key", "msg": "none"}]}).encode()),
        Failure("no_key", "none", is_refused_for_good=True),
    ),
    (
        ProblemError(problems.OUTCOME_PENDING, "who knows"),
        Failure("outcome-pending", "who knows", something_happened=True),
    ),
    (ProblemError(problems.CONTROL_ENDED, "over"), OVER),
    (
        InvalidRequestError.single(("body",), "wrong", "wrong_type"),
        Failure("wrong_type", "wrong", is_refused_for_good=True),
    ),
    (StoreUnavailable("away"), Failure("storage-unavailable", "away")),
]


@pytest.mark.gen_test
@pytest.mark.parametrize(("end", "failure"), ENDS)
async def test_failure_says_whether_anything_happened(
    end: tuple[int, bytes] | Exception, failure: Failure | None
) -> None:
    async def carry_out() -> tuple[int, bytes]:
        if isinstance(end, Exception):
            raise end
        return end

    assert await failure_of(carry_out) == failure


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


@pytest.mark.gen_test
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
