import pytest

from schemas.problems import PROBLEM_TYPES
from tests.service import Service


@pytest.mark.gen_test
async def test_every_problem_has_its_page_where_its_type_points(service: Service) -> None:
    for problem in PROBLEM_TYPES.values():
        reply = await service.get(problem.reference)
        assert reply.status == 200
        assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
        page = reply.body.decode()
        assert problem.name in page
        assert f"HTTP status {problem.status}" in page


@pytest.mark.gen_test
async def test_unknown_problem_is_404(service: Service) -> None:
    reply = await service.get("/problems/%3Cscript%3E")
    assert (reply.status, reply.problem) == (404, "not-found")
    assert b"<script>" not in reply.body


@pytest.mark.gen_test
async def test_pages_are_for_those_who_have_a_token(service: Service) -> None:
    assert (await service.get("/problems/not-found", token=None)).status == 401
    assert (await service.get("/openapi.json", token=None)).status == 401
