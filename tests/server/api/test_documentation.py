import re
from html import unescape
from pathlib import Path
from urllib.parse import urljoin

import pytest

from schemas.http.problems import PROBLEM_TYPES
from tests.server.console.test_site import built
from tests.service import Service, running_service


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


@pytest.mark.parametrize("path", ["/openapi.json", "/docs"])
async def test_description_is_sent_only_to_whoever_lacks_it(service: Service, path: str) -> None:
    reply = await service.get(path, token=None)
    headers = {"If-None-Match": reply.headers["ETag"]}
    assert (await service.get(path, token=None, headers=headers)).status == 304


async def test_documentation_is_led_to_where_it_is_installed(
    mongodb: str, tmp_path: Path, io_loop: object
) -> None:
    site = built(tmp_path / "site")
    async with running_service(mongodb, tmp_path / "data", docs_dir=site) as service:
        document = (await service.get("/openapi.json", token=None)).json
        address = urljoin("/openapi.json", document["externalDocs"]["url"])
        assert address == "/docs/index.html"
        for path in (address, "/docs/guide/demo.html"):
            reply = await service.get(path, token=None)
            assert reply.status == 200
            assert reply.body == (site / path.removeprefix("/docs/")).read_bytes()
            policy = reply.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            # The pages' own scripts are others' work, and this is where the console's session is.
            assert "script-src" not in policy
            assert reply.headers["X-Frame-Options"] == "DENY"
        sheet = await service.get("/docs/site.css", token=None)
        assert (sheet.status, sheet.headers["X-Content-Type-Options"]) == (200, "nosniff")
        assert (await service.get("/docs/bundle.js", token=None)).problem == "not-found"
        # The page about the API is still where it was.
        assert b"docs.js" in (await service.get("/docs", token=None)).body


async def test_documentation_that_is_not_installed_is_not_led_to(service: Service) -> None:
    assert "externalDocs" not in (await service.get("/openapi.json", token=None)).json
    assert (await service.get("/docs/index.html", token=None)).problem == "not-found"
