"""Every problem of the server is a class of its name."""

import pytest

import farhand
from farhand import errors
from farhand.errors import PROBLEMS, InvalidRequest, Problem, WrongPart
from schemas.http.problems import PROBLEM_TYPES


def problem(name: str, **members: object) -> Problem:
    status = PROBLEM_TYPES[name].status
    body = {"type": f"/problems/{name}", "title": "A title", "detail": "a detail", **members}
    return PROBLEMS[name](status, body, {}, "key-1")


def test_each_problem_has_its_class_and_no_class_is_left_over() -> None:
    assert set(PROBLEMS) == set(PROBLEM_TYPES)
    for name, kind in PROBLEMS.items():
        assert kind.__name__ == "".join(part.capitalize() for part in name.split("-"))


def test_library_shows_all_errors() -> None:
    named = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and value.__module__ == errors.__name__ and name[0] != "_"
    }
    assert named <= set(farhand.__all__)
    for name in farhand.__all__:
        assert getattr(farhand, name)


def test_problem_says_what_the_server_said() -> None:
    failed = problem(
        "input-failed", final=True, code="interrupted", completed=2, actions=[], command_id="c"
    )
    assert isinstance(failed, farhand.InputFailed)
    assert str(failed) == "A title: a detail"
    assert (failed.status, failed.final, failed.key) == (502, True, "key-1")
    assert (failed.code, failed.completed, failed.actions) == ("interrupted", 2, [])
    assert failed.command_id == "c"


@pytest.mark.parametrize(
    ("name", "may_have_happened"),
    [
        ("input-failed", True),
        ("outcome-unknown", True),
        ("outcome-pending", True),
        ("actions-stopped", True),
        ("internal-error", True),
        ("not-carried-out", False),
        ("input-expired", False),
        ("machine-unavailable", False),
        ("machine-busy", False),
        ("control-ended", False),
        ("forbidden", False),
    ],
)
def test_error_says_whether_something_may_have_happened(
    name: str, *, may_have_happened: bool
) -> None:
    assert problem(name).may_have_happened is may_have_happened


def test_invalid_request_is_a_sentence() -> None:
    wrong = [
        WrongPart(("body", "x"), "must be a number", "int_type"),
        WrongPart((), "no", "value_error"),
    ]
    error = InvalidRequest(wrong)
    assert str(error) == "body.x: must be a number; no"
    assert not error.is_about_the_key
    key = WrongPart(("header", "Idempotency-Key"), "was used before", "idempotency_key_reused")
    assert InvalidRequest([key]).is_about_the_key
