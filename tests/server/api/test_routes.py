"""A walk over the route table: every operation asks for a token, and for its own scope."""

import re

import pytest

from schemas.tokens import ADMINISTRATOR_SCOPES, Scope
from server.api.operation import Operation, declared
from server.api.routes import ROUTES
from tests.service import Reply, Service

HEALTH = {("get", "/healthz"), ("get", "/readyz")}
# The console's files are no secret; signing in has the token in its body, signing out is harmless.
CONSOLE = {
    ("get", "/console"),
    ("get", "/console/"),
    ("get", "/console/static/{version}/{name}"),
    ("post", "/console/session"),
    ("delete", "/console/session"),
}
PUBLIC = HEALTH | CONSOLE
ANY_TOKEN = {
    ("get", "/openapi.json"),
    ("get", "/problems/{name}"),
    ("get", "/console/session"),
}

OPERATIONS = [
    (method, route.template, operation)
    for route in ROUTES
    for method, operation in declared(route.handler).items()
]
IDS = [f"{method} {template}" for method, template, _ in OPERATIONS]
every_operation = pytest.mark.parametrize(("method", "template", "operation"), OPERATIONS, ids=IDS)


def filled(template: str) -> str:
    """An address of the template; a UUID is an id of anything."""
    return re.sub(r"{\w+}", "00000000-0000-4000-8000-000000000001", template)


async def ask(service: Service, method: str, template: str, token: str | None) -> Reply:
    """A request without a body: who may not ask is told so before anything else."""
    return await service.request(method.upper(), filled(template), token=token)


def test_walk_meets_the_whole_table() -> None:
    assert len(OPERATIONS) >= 25
    for route in ROUTES:
        assert declared(route.handler), f"{route.template} declares nothing"


def test_exceptions_are_in_the_table() -> None:
    known = {(method, template) for method, template, _ in OPERATIONS}
    assert known >= PUBLIC | ANY_TOKEN


@every_operation
def test_only_listed_operations_are_public_or_take_any_token(
    method: str, template: str, operation: Operation
) -> None:
    assert operation.public == ((method, template) in PUBLIC)
    assert (operation.scope is None) == ((method, template) in PUBLIC | ANY_TOKEN)


@every_operation
@pytest.mark.gen_test
async def test_every_operation_asks_for_a_token(
    service: Service, method: str, template: str, operation: Operation
) -> None:
    if operation.public:
        reply = await ask(service, method, template, None)
        if (method, template) in HEALTH:
            assert reply.status == 200
        else:
            assert reply.status not in (401, 403)
        return
    for token, challenge in ((None, "Bearer"), ("fh_unknown", 'Bearer error="invalid_token"')):
        reply = await ask(service, method, template, token)
        assert (reply.status, reply.problem) == (401, "unauthenticated")
        assert reply.headers["WWW-Authenticate"] == challenge


@every_operation
@pytest.mark.gen_test
async def test_every_operation_asks_for_its_scope_and_no_other_will_do(
    service: Service, method: str, template: str, operation: Operation
) -> None:
    if operation.scope is None:
        # Whatever the token may do, it is enough here.
        token = await service.new_token(Scope.SCREEN_READ)
        assert (await ask(service, method, template, token)).status not in (401, 403)
        return
    others = [scope for scope in Scope if scope is not operation.scope]
    machine_id = "desk-1" if Scope.MACHINE_CONNECT in others else None
    token = await service.new_token(*others, machine_id=machine_id)
    reply = await ask(service, method, template, token)
    assert (reply.status, reply.problem) == (403, "forbidden")
    assert reply.json["scope"] == operation.scope.value
    assert "insufficient_scope" in reply.headers["WWW-Authenticate"]


@every_operation
@pytest.mark.gen_test
async def test_scope_of_an_operation_is_enough_for_it(
    service: Service, method: str, template: str, operation: Operation
) -> None:
    if operation.scope is None:
        return
    machine_id = "desk-1" if operation.scope is Scope.MACHINE_CONNECT else None
    token = await service.new_token(operation.scope, machine_id=machine_id)
    # A stream would not end; what is wrong with a request is told after who may ask.
    query = "?unknown=1" if operation.endless else ""
    reply = await service.request(method.upper(), filled(template) + query, token=token)
    assert reply.status not in (401, 403)


@pytest.mark.gen_test
async def test_administrator_may_do_everything_but_connect(service: Service) -> None:
    assert set(Scope) - set(ADMINISTRATOR_SCOPES) == {Scope.MACHINE_CONNECT}
    reply = await service.get("/v1/machines/connect")
    assert (reply.status, reply.json["scope"]) == (403, "machine:connect")


@every_operation
@pytest.mark.gen_test
async def test_undeclared_methods_are_405_and_name_the_declared_ones(
    service: Service, method: str, template: str, operation: Operation
) -> None:
    assert operation
    (handler,) = {route.handler for route in ROUTES if route.template == template}
    allowed = {name.upper() for name in declared(handler)}
    assert method.upper() in allowed
    if "GET" in allowed:
        allowed.add("HEAD")
    for other in {"PUT", "DELETE", "PATCH", "POST", "OPTIONS", "HEAD"} - allowed:
        reply = await service.request(other, filled(template), token=None)
        assert reply.status == 405, other
        assert other == "HEAD" or reply.problem == "method-not-allowed"
        assert set(reply.headers["Allow"].split(", ")) == allowed


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/machine", "/v1/machines/", "/v1/trajectories/a/b", "/v2/machines"]
)
@pytest.mark.gen_test
async def test_unknown_address_is_404(service: Service, path: str) -> None:
    reply = await service.get(path, token=None)
    assert (reply.status, reply.problem) == (404, "not-found")
