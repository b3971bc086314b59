import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from schemas.resources.tokens import Scope
from server.api.console import ConsoleHandler
from server.errors import StoreUnavailable
from server.store.identity.tokens import TokenStore
from server.web.authorization import authorize, refusal
from server.web.endpoint import Endpoint, endpoints_of
from tests.service import Service

READ = Endpoint(summary="Read", scope=Scope.TRAJECTORIES_READ, answers={})


def asked(token: str | None) -> HTTPServerRequest:
    headers = HTTPHeaders({"Host": "x"})
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return HTTPServerRequest(start_line=RequestStartLine("POST", "/", "HTTP/1.1"), headers=headers)


async def test_caller_is_known_by_the_headers_alone(service: Service) -> None:
    caller = await authorize(service.server.services, asked(service.token), READ)
    assert caller.principal.organization_id == service.organization_id
    assert caller.session_expires_at is None


async def test_refusal_says_what_the_operation_would_say(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = service.server.services
    machine = await service.new_token(Scope.MACHINES_READ)
    expected = {None: "unauthenticated", "fh_no": "unauthenticated", machine: "forbidden"}
    for token, name in expected.items():
        problem = await refusal(services, asked(token), READ)
        assert problem is not None
        assert problem.problem_type.name == name
    assert await refusal(services, asked(service.token), READ) is None
    assert await refusal(services, asked(None), endpoints_of(ConsoleHandler)["get"]) is None

    async def away(*_: object) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(TokenStore, "find_by_hash", away)
    problem = await refusal(services, asked("fh_other"), READ)
    assert problem is not None
    assert problem.problem_type.name == "storage-unavailable"
    monkeypatch.setattr(services.operation, "stopping", True)
    problem = await refusal(services, asked(None), READ)
    assert problem is not None
    assert problem.problem_type.name == "server-stopping"
