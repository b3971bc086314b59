"""A model is told what to do next, whatever went wrong."""

from typing import Any

import pytest

from farhand.errors import PROBLEMS, FarhandError, InvalidRequest, NoAnswer, NotFarhand, WrongPart
from schemas.http.problems import PROBLEM_TYPES
from schemas.values.unavailable_reasons import UNAVAILABLE_REASONS
from server.mcp.refusals import SENTENCES, UNAVAILABLE, UNFORESEEN, facts, sentence
from tests.server.api.route_table import TABLE
from tests.server.api.test_mcp_authorization import PAIRS


def problem(name: str, **members: Any) -> FarhandError:
    kind = PROBLEM_TYPES[name]
    body = {"type": kind.reference, "title": kind.title, "detail": "the inside", **members}
    return PROBLEMS[name](kind.status, body, {}, "a-key")


def test_every_problem_of_the_requests_behind_the_tools_has_its_sentence() -> None:
    asked = {(pair.method, pair.path.partition("?")[0]) for pair in PAIRS}
    possible = {
        name for row in TABLE if (row.method, row.path) in asked for name in row.all_problems
    }
    # Our own requests are HTTP, are JSON, and come from no page.
    possible -= {"malformed-request", "headers-too-large", "unsupported-media-type"}
    possible -= {"cross-site-request"}
    for name in possible:
        said = sentence(problem(name, scope="input:send", reason="offline"))
        assert said != UNFORESEEN, name
        assert "the inside" not in said
    assert {*SENTENCES} | {"forbidden", "machine-unavailable"} == possible


@pytest.mark.parametrize("reason", UNAVAILABLE_REASONS)
def test_every_reason_of_a_machine_has_its_sentence(reason: str) -> None:
    assert UNAVAILABLE[reason] in sentence(problem("machine-unavailable", reason=reason))
    assert len(UNAVAILABLE) == len(UNAVAILABLE_REASONS)


def test_scope_is_named_where_that_is_what_the_token_lacks() -> None:
    lacks = sentence(problem("forbidden", scope="input:send"))
    assert lacks.startswith("The token lacks the scope input:send. Nothing was done")
    assert sentence(problem("forbidden")).startswith("The token does not allow this. Nothing")


def test_unknown_reason_and_unknown_problem_are_told_in_general() -> None:
    assert "It is not available." in sentence(problem("machine-unavailable", reason="new"))
    assert sentence(problem("already-exists")) == UNFORESEEN
    assert sentence(FarhandError("the inside")) == UNFORESEEN


def test_whether_it_may_have_been_done_is_told() -> None:
    away, lost = NoAnswer("the inside"), NoAnswer("the inside")
    lost.may_have_happened, lost.key = True, "a-key"
    assert "Nothing was done" in sentence(away)
    assert "it may have been done" in sentence(lost)
    assert facts(lost) == {"idempotency_key": "a-key"}
    assert "no Farhand server" in sentence(NotFarhand("the inside"))


def test_what_is_wrong_with_arguments_is_told_by_their_names() -> None:
    wrong = [WrongPart(("body", "actions", "3", "x"), "must be less", "t")]
    wrong.append(WrongPart(("body",), "must be more", "t"))
    said = sentence(InvalidRequest(wrong))
    assert said == (
        "Wrong arguments, so nothing was done. actions.3.x: must be less; must be more."
    )


def test_how_far_several_actions_came_is_told_without_their_pictures() -> None:
    ends = [{"operation": "screenshot", "status": "completed", "picture": {"content": "large"}}]
    known = facts(problem("actions-stopped", completed=1, actions=ends))
    assert known == {
        "idempotency_key": "a-key",
        "problem": "actions-stopped",
        "completed": 1,
        "actions": [{"operation": "screenshot", "status": "completed"}],
    }
