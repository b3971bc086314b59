"""What the next step of a session may be, whatever became of those before."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import farhand
from farhand._answers import Reply
from farhand._session_file import SessionFile
from farhand._session_lines import Input
from farhand._session_steps import CLOCK_SECONDS, KEYS_LIVE_SECONDS, SessionSteps
from farhand.errors import PROBLEMS, InvalidRequest, Refused, WrongPart
from tests.client.test__session_file import full_disk

PATH = "/v1/computer/reception/input/mouse/click"
ANSWER = {"command_id": "1", "screenshot": {"content": "AAAA"}, "actions": [{"picture": "BBBB"}]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "order.session"


@contextmanager
def opened(path: Path, name: str = "order", **options: Any) -> Iterator[SessionSteps]:
    """A run of the program, which is killed at the block's end."""
    steps = SessionSteps(name, SessionFile(path), options.pop("lifetime", KEYS_LIVE_SECONDS))
    steps.open()
    try:
        yield steps
    finally:
        steps.close()


def begin(steps: SessionSteps, x: int) -> Input:
    return steps.begin("POST", PATH, {"x": x})


def do(steps: SessionSteps, x: int) -> None:
    steps.done(begin(steps, x), ANSWER)


def refusal(name: str, *, final: bool = False) -> Refused:
    body = {"type": f"/problems/{name}", "title": "T", "detail": "D", "final": final}
    return PROBLEMS[name](503, body, {}, None)


def test_program_is_told_what_it_was_told_before_and_goes_on(path: Path) -> None:
    with opened(path) as steps:
        do(steps, 1)
        open_step = begin(steps, 2)
        key = steps.key_of(open_step)
    with opened(path) as steps:
        first = begin(steps, 1)
        assert first.end is not None
        # Without the pictures, as a server tells it again.
        assert first.end.reply.json == {"command_id": "1", "actions": [{}]}
        second = begin(steps, 2)
        assert second == open_step
        assert steps.key_of(second) == key
        steps.done(second, ANSWER)
        assert begin(steps, 3).begun.step == 2
    with opened(path) as steps:
        do_not_begin = [begin(steps, each) for each in (1, 2)]
        assert all(each.end for each in do_not_begin)


def test_step_is_on_the_disk_before_it_is_sent(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_disk: list[bytes] = []
    with opened(path) as steps:
        monkeypatch.setattr("os.fsync", lambda _: on_disk.append(path.read_bytes()))
        first = begin(steps, 1)
        assert on_disk[-1].endswith(first.begun.model_dump_json().encode() + b"\n")
        steps.done(first, ANSWER)
        made = steps.decide("left")
        assert on_disk[-1].endswith(made.model_dump_json().encode() + b"\n")
        steps.finish()
        assert b"finished" in on_disk[-1]


def test_key_says_the_session_the_place_and_the_try_and_nothing_else(path: Path) -> None:
    with opened(path) as steps:
        keys = [steps.key_of(first := begin(steps, 1))]
        keys.append(steps.key_of(steps.again(steps.refused(first, refusal("not-carried-out")))))
        steps.refused(first, refusal("input-failed", final=True))
        keys.append(steps.key_of(begin(steps, 1)))
    assert len({*keys}) == 3
    assert all(key.isascii() and len(key) == 56 for key in keys)
    path.unlink()
    with opened(path) as steps:
        assert steps.key_of(begin(steps, 99)) == keys[0]
    with opened(path.with_name("other"), "invoice") as steps:
        assert steps.key_of(begin(steps, 1)) not in keys


def test_other_step_at_the_same_place_ends_the_session(path: Path) -> None:
    with opened(path) as steps:
        do(steps, 1)
        assert steps.decision() is None
        steps.decide("left")
        do(steps, 2)
    for program in (
        lambda steps: begin(steps, 7),
        lambda steps: steps.decision(),
        lambda steps: [begin(steps, 1), begin(steps, 2)],
    ):
        with opened(path) as steps:
            with pytest.raises(farhand.SessionChanged, match=r"step \d of the session order is an"):
                program(steps)
            # Whatever comes behind it is not what it was either.
            with pytest.raises(farhand.SessionChanged):
                begin(steps, 1)
            with pytest.raises(farhand.SessionChanged):
                steps.finish()


@pytest.mark.parametrize("name", ["order\n", "", "  ", "\ud800"])
def test_name_is_one_that_a_person_can_read(path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="printable"):
        SessionSteps(name, SessionFile(path), 1.0)


def test_keys_must_live_for_a_while(path: Path) -> None:
    for lifetime in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="keys_live"):
            SessionSteps("order", SessionFile(path), lifetime)


def test_session_that_came_to_its_end_is_not_opened_again(path: Path) -> None:
    with opened(path) as steps:
        do(steps, 1)
        steps.finish()
    with pytest.raises(farhand.SessionFinished, match="all of it is done"), opened(path):
        pass


def test_session_that_ends_before_what_it_did_is_not_finished(path: Path) -> None:
    with opened(path) as steps:
        do(steps, 1)
        do(steps, 2)
    with opened(path) as steps:
        do_first = begin(steps, 1)
        assert do_first.end
        with pytest.raises(farhand.SessionChanged, match="after 1 steps, and had 2"):
            steps.finish()
    with opened(path) as steps:
        assert [begin(steps, each).end is not None for each in (1, 2)] == [True, True]


def test_nothing_comes_behind_an_input_that_has_no_answer(path: Path) -> None:
    with opened(path) as steps:
        begin(steps, 1)
        for following in (
            lambda: begin(steps, 1),
            lambda: begin(steps, 2),
            lambda: steps.decide(1),
            steps.decision,
            steps.finish,
        ):
            with pytest.raises(farhand.SessionError, match="has no answer yet"):
                following()
    with opened(path) as steps:
        do(steps, 1)
        do(steps, 2)


def test_input_that_never_happened_may_be_another_the_next_time(path: Path) -> None:
    with opened(path) as steps:
        do(steps, 1)
        first = begin(steps, 2)
        steps.refused(first, InvalidRequest([WrongPart(("body", "x"), "too large", "outside")]))
    with opened(path) as steps:
        begin(steps, 1)
        corrected = begin(steps, 3)
        assert corrected.end is None
        assert (corrected.begun.step, corrected.begun.attempt) == (1, 1)
        assert steps.key_of(corrected) != steps.key_of(first)


def test_input_that_never_happened_may_be_left_out_the_next_time(path: Path) -> None:
    for another in ("decision", "end"):
        path.unlink(missing_ok=True)
        with opened(path) as steps:
            do(steps, 1)
            steps.refused(begin(steps, 2), refusal("machine-unavailable"))
        with opened(path) as steps:
            begin(steps, 1)
            if another == "decision":
                assert steps.decision() is None
                steps.decide("wait")
                do(steps, 2)
            else:
                steps.finish()
        if another == "decision":
            with opened(path) as steps:
                assert begin(steps, 1).end
                assert steps.decision()
                assert begin(steps, 2).end


def test_error_that_a_program_went_on_from_is_told_again(path: Path) -> None:
    with opened(path) as steps:
        steps.refused(begin(steps, 1), refusal("machine-unavailable"))
        steps.refused(begin(steps, 2), refusal("outcome-unknown", final=True))
        steps.refused(begin(steps, 3), refusal("machine-unavailable"))
        steps.decide("go on")
    with opened(path) as steps:
        ends = [begin(steps, each).end for each in (1, 2, 3)]
        told = [each.reply.refusal() if each else None for each in ends]
        assert [type(each) for each in told] == [
            farhand.MachineUnavailable,
            farhand.OutcomeUnknown,
            farhand.MachineUnavailable,
        ]
        assert [each.may_have_happened for each in told if each] == [False, True, False]
        decision = steps.decision()
        assert decision is not None
        assert decision.decided == "go on"


def test_input_that_may_still_happen_stays_open(path: Path) -> None:
    in_doubt = refusal("machine-unavailable")
    in_doubt.may_have_happened = True  # As of an earlier try that got no answer.
    for error in (refusal("outcome-pending"), refusal("internal-error"), in_doubt):
        path.unlink(missing_ok=True)
        with opened(path) as steps:
            assert steps.refused(begin(steps, 1), error).end is None
        with opened(path) as steps:
            assert begin(steps, 1).begun.attempt == 0


def test_server_that_knows_another_input_under_the_key_ends_the_session(path: Path) -> None:
    wrong = WrongPart(("header", "Idempotency-Key"), "used", "idempotency_key_reused")
    with opened(path) as steps:
        with pytest.raises(farhand.SessionChanged, match="ran before with another file"):
            steps.refused(begin(steps, 1), InvalidRequest([wrong]))
        with pytest.raises(farhand.SessionChanged):
            begin(steps, 1)


class Clock:
    """The system's, as somebody sets it."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("time.time", clock)
    return clock


@pytest.mark.parametrize("later", [60.0, -CLOCK_SECONDS - 1, 365 * 24 * 3600.0])
def test_open_input_whose_key_may_be_forgotten_is_not_sent_again(
    path: Path, clock: Clock, later: float
) -> None:
    with opened(path, lifetime=60.0) as steps:
        do(steps, 1)
        begin(steps, 2)
    clock.now += later
    with opened(path, lifetime=60.0) as steps:
        # What was answered is known however long ago that was.
        assert begin(steps, 1).end
        with pytest.raises(farhand.SessionTooOld, match="look at the machine"):
            begin(steps, 2)


def test_key_is_sent_for_as_long_as_the_server_remembers_it(path: Path, clock: Clock) -> None:
    with opened(path, lifetime=60.0) as steps:
        assert steps.seconds_left(begin(steps, 1)) == 60
    clock.now += 59
    with opened(path, lifetime=60.0) as steps:
        assert steps.seconds_left(begin(steps, 1)) == 1
    clock.now -= 59 + CLOCK_SECONDS
    with opened(path, lifetime=60.0) as steps:
        begin(steps, 1)


def test_new_try_is_as_young_as_it_is(path: Path, clock: Clock) -> None:
    with opened(path, lifetime=60.0) as steps:
        steps.refused(begin(steps, 1), refusal("not-carried-out", final=True))
    clock.now += 1000
    with opened(path, lifetime=60.0) as steps:
        assert steps.seconds_left(begin(steps, 1)) == 60


def test_step_that_finds_no_room_is_not_sent_and_none_behind_it(path: Path) -> None:
    with opened(path) as steps:
        do(steps, 1)
        with full_disk(10, path), pytest.raises(farhand.SessionError, match="cannot write") as e:
            begin(steps, 2)
        assert not e.value.may_have_happened
        with pytest.raises(farhand.SessionError, match="cannot write"):
            begin(steps, 2)
    with opened(path) as steps:
        begin(steps, 1)
        do(steps, 2)


def test_answer_that_finds_no_room_is_asked_for_again(path: Path) -> None:
    with opened(path) as steps:
        first = begin(steps, 1)
        with full_disk(10, path), pytest.raises(farhand.SessionError, match="cannot write") as e:
            steps.done(first, ANSWER)
        assert e.value.may_have_happened
    with opened(path) as steps:
        again = begin(steps, 1)
        assert again.end is None
        assert steps.key_of(again) == steps.key_of(first)


def test_step_that_is_interrupted_is_the_last_of_its_run(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    for step in (lambda steps: begin(steps, 1), lambda steps: steps.decide(1)):
        path.unlink(missing_ok=True)
        with opened(path) as steps:
            with monkeypatch.context() as patch:
                patch.setattr("os.fsync", interrupt)
                with pytest.raises(KeyboardInterrupt):
                    step(steps)
            with pytest.raises(farhand.SessionError, match="no answer yet"):
                step(steps)
        with opened(path) as steps:
            assert steps.decision() if b"decided" in path.read_bytes() else begin(steps, 1)


def test_file_that_is_full_takes_no_step(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(path) as steps:
        first = begin(steps, 1)
        monkeypatch.setattr("farhand._session_steps.MAX_BYTES", 1)
        steps.done(first, ANSWER)
        with pytest.raises(farhand.SessionError, match="is full"):
            begin(steps, 2)


def test_file_of_somebody_else_stays_as_it_is(path: Path) -> None:
    for content in (b"a text without an end", b"two lines\nof a text", b'{"session":"invoice",'):
        path.write_bytes(content)
        with pytest.raises(farhand.SessionError, match="no session's file"), opened(path):
            pass
        assert path.read_bytes() == content


def test_file_that_was_cut_within_a_line_goes_on_before_it(path: Path) -> None:
    with opened(path) as steps:
        do(steps, 1)
        begin(steps, 2)
    content = path.read_bytes()
    for size in range(len(content)):
        path.write_bytes(content[:size])
        with opened(path) as steps:
            keys = [steps.key_of(first := begin(steps, 1))]
            if first.end is None:
                steps.done(first, ANSWER)
            keys.append(steps.key_of(begin(steps, 2)))
        assert len({*keys}) == 2
        assert path.read_bytes().startswith(content[: content.rfind(b"\n", 0, size) + 1])


def test_object_can_be_opened_again_and_begins_from_the_start(path: Path) -> None:
    steps = SessionSteps("order", SessionFile(path), 60.0)
    for has_end in (False, True):
        steps.open()
        first = begin(steps, 1)
        assert (first.begun.step, first.end is not None) == (0, has_end)
        if not has_end:
            steps.done(first, ANSWER)
        steps.close()
    with pytest.raises(farhand.SessionError, match="not open"):
        begin(steps, 2)


def test_decision_is_kept_as_json_and_made_alone(path: Path) -> None:
    with opened(path) as steps:
        assert steps.decide(("left", {"x": 3})).decided == ["left", {"x": 3}]
        assert steps.decide(None).decided is None
        for wrong in (object(), float("nan"), {1, 2}):
            with pytest.raises(farhand.SessionError, match="must be JSON"):
                steps.decide(wrong)
        with steps.deciding(), pytest.raises(farhand.SessionError, match="within once"):
            begin(steps, 1)
        do(steps, 1)
    with opened(path) as steps:
        known = [steps.decision(), steps.decision()]
        assert [each and each.decided for each in known] == [["left", {"x": 3}], None]


def test_text_is_not_in_the_file(path: Path) -> None:
    with opened(path) as steps:
        steps.begin("POST", PATH, {"text": "a password"})
    assert b"password" not in path.read_bytes()


def test_answer_is_a_reply_as_of_the_server(path: Path) -> None:
    with opened(path) as steps:
        do(steps, 1)
    with opened(path) as steps:
        end = begin(steps, 1).end
    assert end is not None
    assert isinstance(end.reply, Reply)
    assert end.reply.is_success
    assert end.reply.is_replayed
