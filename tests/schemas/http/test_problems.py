from pydantic import BaseModel

from schemas.http.problems import (
    PROBLEM_TYPES,
    Problem,
    ProblemError,
)


class Example(BaseModel):
    """What the tests get wrong."""

    number: int
    names: list[str] = []
    anything: dict[str, int] = {}


def test_every_problem_has_a_page_an_error_status_and_words() -> None:
    for name, problem in PROBLEM_TYPES.items():
        assert problem.name == name
        assert problem.reference == f"/problems/{name}"
        assert 400 <= problem.status <= 599
        assert problem.title
        assert problem.advice.endswith(".")


def test_body_of_a_problem_has_the_standard_members_and_its_own() -> None:
    error = ProblemError(PROBLEM_TYPES["machine-busy"], "too many", members={"limit": 64})
    body = error.body("request-1")
    assert body == {
        "type": "/problems/machine-busy",
        "title": PROBLEM_TYPES["machine-busy"].title,
        "status": 429,
        "detail": "too many",
        "instance": "request-1",
        "limit": 64,
    }
    assert Problem.model_validate(body).status == 429
    assert str(error) == "too many"
