import re
from html import unescape
from urllib.parse import urljoin

import pytest

from schemas.http.problems import PROBLEM_TYPES
from tests.service import Service


async def test_every_problem_has_its_page_where_its_type_points(service: Service) -> None:
    for problem in PROBLEM_TYPES.values():
        reply = await service.get(problem.reference, token=None)
        assert reply.status == 200
        assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
        page = reply.body.decode()
        assert problem.name in page
        assert f"HTTP status {problem.status}" in page


async def test_page_explains_every_reason_of_a_problem(service: Service) -> None:
    page = unescape((await service.get("/problems/machine-unavailable")).body.decode())
    reasons = dict(re.findall(r"<tr><td><code>(\w+)</code></td><td>(.+?)</td></tr>", page))
    assert reasons == PROBLEM_TYPES["machine-unavailable"].reasons


async def test_unknown_problem_is_404(service: Service) -> None:
    reply = await service.get("/problems/%3Cscript%3E")
    assert (reply.status, reply.problem) == (404, "not-found")
    assert b"<script>" not in reply.body


async def test_server_says_what_it_is(service: Service) -> None:
    about = (await service.get("/", token=None)).json
    assert about["name"] == "Farhand"
    assert (
        about["version"] in (await service.get("/openapi.json", token=None)).json["info"]["version"]
    )
    for name in ("console", "documentation", "openapi", "alive", "ready"):
        assert (await service.get("/" + about[name], token=None)).status == 200, name


@pytest.mark.parametrize("path", ["/", "/docs", "/problems/not-found"])
async def test_browser_gets_a_page_that_loads_nothing_from_elsewhere(
    service: Service, path: str
) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}
    reply = await service.get(path, token=None, headers=browser)
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = reply.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "http" not in policy
    for address in re.findall(r'(?:href|src)="([^"#]+)"', reply.body.decode()):
        assert (await service.get(urljoin(path, address), token=None)).status == 200, address


async def test_description_is_sent_only_to_whoever_lacks_it(service: Service) -> None:
    reply = await service.get("/openapi.json", token=None)
    headers = {"If-None-Match": reply.headers["ETag"]}
    assert (await service.get("/openapi.json", token=None, headers=headers)).status == 304
