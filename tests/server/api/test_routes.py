"""Every row of the table of routes, against one real server."""

import asyncio
import json
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID, uuid4

import pytest
from tornado.httputil import HTTPHeaders
from tornado.ioloop import IOLoop

from schemas.http.problems import PROBLEM_TYPES
from schemas.resources.tokens import ADMINISTRATOR_SCOPES, Scope
from server.api.routes import ROUTES
from server.store.machines.invitations import InvitationStore
from server.web.endpoint import endpoints_of
from tests.commands import accepted, keep_sent
from tests.recordings import keep_recording
from tests.runs import approved, begun, steps
from tests.server.api.route_table import (
    ANY_TOKEN,
    ITS_OWN,
    OF_THE_CONSOLE,
    OTHERS_404,
    PNG,
    PUBLIC,
    TABLE,
    Row,
)
from tests.service import (
    PATIENCE_SECONDS,
    Reply,
    Service,
    in_new_organization,
    new_key,
    running_server,
    stores_of,
)
from tests.trajectories import sent

T = TypeVar("T")


def each_of(rows: Iterable[Row]) -> pytest.MarkDecorator:
    """Run a test for each of these rows."""
    named = {f"{row.method} {row.path}": row for row in rows}
    return pytest.mark.parametrize("row", named.values(), ids=named)


class World:
    """One server for every test here; ``ours`` has things in it, ``theirs`` must not see them."""

    def __init__(self, loop: IOLoop, ours: Service, theirs: Service) -> None:
        self._loop = loop
        self.ours, self.theirs = ours, theirs

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Let the server run until this is done."""
        result: T = self._loop.run_sync(lambda: work)
        return result

    def ask(
        self, row: Row, path: str, token: str | None = "", *, of: Service | None = None
    ) -> Reply:
        """A right request of the row, with the administrator's token unless told otherwise."""
        service = of or self.ours
        if row.is_endless:
            return self.run(first_of_stream(service, path, service.token if token == "" else token))
        return self.run(
            service.request(
                row.method, path, row.body, token=token, headers=row.headers, content=row.content
            )
        )

    def filled(self, path: str) -> str:
        """The address of a route, with things in it that were made for this request."""
        return self.run(self._filled(path))

    def made(self, path: str, body: dict[str, Any]) -> str:
        """The id of something new of ours."""
        return self.run(self._made(path, body))

    async def _filled(self, path: str) -> str:
        ids = {"version": "0", "name": "nothing", "path": "guide/nothing.html", "lease": "guessed"}
        ids["number"] = "1"
        if "{machine_id}" in path or "{command_id}" in path:
            ids["machine_id"] = (await self.ours.new_machine(f"desk-{uuid4()}")).machine_id
        if "{command_id}" in path:
            command = accepted(self.ours, new_key(), machine_id=ids["machine_id"])
            ids["command_id"] = str((await keep_sent(self.ours, command)).command_id)
        if "{workflow_id}" in path:
            ids["workflow_id"] = await self._made("/v1/workflows", {"name": "n"})
        if path.endswith("latest-trajectory"):
            await self._made("/v1/trajectories", sent(workflow_id=ids["workflow_id"]))
        if "{trajectory_id}" in path:
            ids["trajectory_id"] = await self._made("/v1/trajectories", sent(is_generated=False))
        for thing, made in (
            ("{session_id}", self._session),
            ("{webhook_id}", self._webhook),
            ("{recording_id}", self._recording),
            ("{help_id}", self._help),
            ("{run_id}", self._run),
        ):
            if thing in path:
                ids |= await made()
        for name, address, body in (
            ("token_id", "/v1/tokens", {"name": "n", "scopes": ["input:send"]}),
            ("pool_id", "/v1/pools", {"name": f"of {uuid4()}"}),
            ("invitation_id", "/v1/invitations", {"approval": True}),
        ):
            if f"{{{name}}}" in path:
                ids[name] = await self._made(address, body)
        if "{join_id}" in path:
            ids["join_id"] = await self._waiting_host(UUID(ids["invitation_id"]))
        if "{picture_id}" in path:
            picture = PNG + uuid4().bytes
            headers = {"Content-Type": "image/png"}
            reply = await self.ours.post("/v1/pictures", headers=headers, content=picture)
            ids["picture_id"] = reply.json["id"]
        return path.format(**ids)

    async def _session(self) -> dict[str, str]:
        """The id of a session that somebody has just begun."""
        body, own = {"token": self.ours.token}, OF_THE_CONSOLE
        reply = await self.ours.post("/console/session", body, token=None, headers=own)
        assert reply.status == 204, reply.body
        listed = (await self.ours.get("/v1/sessions?limit=1")).json
        return {"session_id": listed["items"][0]["id"]}

    async def _webhook(self) -> dict[str, str]:
        """The ids of a webhook and of something that is posted to it."""
        body = {"url": "http://127.0.0.1:1", "events": ["machine_offline"]}
        webhook_id = await self._made("/v1/webhooks", body)
        reply = await self.ours.post(f"/v1/webhooks/{webhook_id}/test")
        return {"webhook_id": webhook_id, "delivery_id": reply.json["id"]}

    async def _recording(self) -> dict[str, str]:
        """The id of a recording of a machine that is not connected by now."""
        machine = await self.ours.new_machine(f"desk-{uuid4()}")
        return {"recording_id": str((await keep_recording(self.ours, machine.machine_id)).id)}

    async def _run(self) -> dict[str, str]:
        """The id of a run that waits for a machine which never connects."""
        machine = await self.ours.new_machine(f"desk-{uuid4()}")
        trajectory = await approved(self.ours, steps("a"))
        return {"run_id": (await begun(self.ours, trajectory, machine_id=machine.machine_id))["id"]}

    async def _help(self) -> dict[str, str]:
        """The id of a help request that another token has asked."""
        machine = await self.ours.new_machine(f"desk-{uuid4()}")
        body = {"machine_id": machine.machine_id, "kind": "help", "reason": "r"}
        asker = await self.ours.new_token(Scope.INPUT_SEND)
        return {"help_id": (await self.ours.post("/v1/help", body, token=asker)).json["id"]}

    async def _waiting_host(self, invitation_id: UUID) -> str:
        """The id of a host that came with an invitation, and waits."""
        store = InvitationStore(
            self.ours.server.services.operation.database, stores_of(self.ours.server).machines
        )
        invitation = await store.get(self.ours.organization_id, invitation_id)
        assert invitation is not None
        join = await store.join(invitation, uuid4().bytes, "host", "127.0.0.1")
        assert join is not None
        return str(join.id)

    async def _made(self, path: str, body: dict[str, Any]) -> str:
        reply = await self.ours.post(path, body)
        assert reply.status == 201, reply.body
        return str(reply.json["id"])

    def token(self, *scopes: Scope) -> str:
        """A token of our organization with these scopes."""
        machine_id = "desk-of-a-token" if Scope.MACHINE_CONNECT in scopes else None
        return self.run(self.ours.new_token(*scopes, machine_id=machine_id))


async def first_of_stream(service: Service, path: str, token: str | None) -> Reply:
    """The head of an answer that may never end, and the body of one that is an error."""
    host, port = service.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{authorization}\r\n".encode())
    async with asyncio.timeout(PATIENCE_SECONDS):
        status_line, _, rest = (await reader.readuntil(b"\r\n\r\n")).decode().partition("\r\n")
        headers = HTTPHeaders.parse(rest)
        body = await reader.readexactly(int(headers.get("Content-Length", "0")))
    writer.close()
    return Reply(int(status_line.split()[1]), headers, body)


@pytest.fixture(scope="module")
def world(mongodb: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A server that every test of this file asks."""
    asyncio_loop = asyncio.new_event_loop()
    asyncio.set_event_loop(asyncio_loop)
    loop = IOLoop(asyncio_loop=asyncio_loop, make_current=False)
    data_dir: Path = tmp_path_factory.mktemp("routes")
    with ExitStack() as ending:
        ending.callback(asyncio.set_event_loop, None)
        ending.callback(loop.close, all_fds=True)
        running = running_server(mongodb, data_dir)
        server = loop.run_sync(running.__aenter__)
        ending.callback(loop.run_sync, lambda: running.__aexit__(None, None, None))
        ours = loop.run_sync(lambda: in_new_organization(server))
        theirs = loop.run_sync(lambda: in_new_organization(server))
        yield World(loop, ours, theirs)


def test_table_has_every_route_and_method_once() -> None:
    there_are = {
        (method.upper(), route.template)
        for route in ROUTES
        for method in endpoints_of(route.handler)
    }
    assert {(row.method, row.path) for row in TABLE} == there_are
    assert len(TABLE) == len(there_are)


@each_of(row for row in TABLE if row.scope == PUBLIC)
def test_no_token_is_needed(world: World, row: Row) -> None:
    assert world.ask(row, world.filled(row.path), None).status == row.status


@each_of(row for row in TABLE if row.scope == ANY_TOKEN)
def test_any_token_is_enough(world: World, row: Row) -> None:
    path = world.filled(row.path)
    assert world.ask(row, path, world.token(Scope.SCREEN_READ)).status == row.status


@each_of(row for row in TABLE if row.scope not in (PUBLIC, ANY_TOKEN))
def test_scope_is_needed_and_enough_and_no_other_will_do(world: World, row: Row) -> None:
    path = world.filled(row.path)
    others = world.token(*(scope for scope in Scope if scope.value != row.scope))
    reply = world.ask(row, path, others)
    assert (reply.status, reply.problem, reply.json["scope"]) == (403, "forbidden", row.scope)
    assert "insufficient_scope" in reply.headers["WWW-Authenticate"]
    # Now it is done, so nothing of what was refused has been.
    enough = world.token(*map(Scope, (row.scope, *row.also.split())))
    assert world.ask(row, path, enough).status == row.status


@each_of(row for row in TABLE if row.scope != PUBLIC)
def test_token_is_needed(world: World, row: Row) -> None:
    path = world.filled(row.path)
    for token, challenge in ((None, "Bearer"), ("fh_unknown", 'Bearer error="invalid_token"')):
        reply = world.ask(row, path, token)
        assert (reply.status, reply.problem) == (401, "unauthenticated")
        assert reply.headers["WWW-Authenticate"] == challenge


@each_of(row for row in TABLE if row.border == OTHERS_404)
def test_what_another_organization_has_does_not_exist(world: World, row: Row) -> None:
    path = world.filled(row.path)
    reply = world.ask(row, path, of=world.theirs)
    assert (reply.status, reply.problem) == (404, "not-found")
    # Now it is done, so nothing of what was refused has been.
    assert world.ask(row, path).status == row.status


@each_of(row for row in TABLE if row.border == ITS_OWN)
def test_nothing_of_another_organization_is_seen(world: World, row: Row) -> None:
    things = world.filled(
        "{machine_id} {workflow_id} {token_id} {invitation_id} {pool_id} {webhook_id} "
        "{recording_id} {session_id} {help_id} {run_id}"
    ).split()
    # Its pictures go soon, as it is old.
    old = {"updated_at": "2020-01-01T00:00:00Z", "trajectory_data": [{"picture": "0" * 64}]}
    trajectory = world.made("/v1/trajectories", sent(**old))
    known = [*things, trajectory, str(world.ours.organization_id)]
    reply = world.ask(row, row.path, of=world.theirs)
    assert reply.status == row.status
    assert not [each for each in known if each.encode() in reply.body]
    if row.method == "GET":
        reply = world.ask(row, row.path)
        assert [each for each in known if each.encode() in reply.body], "there is nothing to see"


def test_rows_that_name_something_have_a_border() -> None:
    for row in TABLE:
        assert (row.border == OTHERS_404) == ("_id}" in row.path), row.path


def test_described_problems_are_those_of_the_table(world: World) -> None:
    paths = json.loads(world.run(world.ours.get("/openapi.json")).body)["paths"]
    for row in TABLE:
        answers = paths[row.path][row.method.lower()]["responses"]
        said = {
            text for answer in answers.values() for text in answer["description"].split(" Or: ")
        }
        described = {
            name for name, each in PROBLEM_TYPES.items() if f"{each.title}. {each.advice}" in said
        }
        assert described == row.all_problems, (row.method, row.path)


@each_of(row for row in TABLE if row.takes_body)
def test_another_media_type_is_415_where_there_is_a_body(world: World, row: Row) -> None:
    reply = world.run(
        world.ours.request(
            row.method,
            world.filled(row.path),
            headers={**row.headers, "Content-Type": "text/plain"},
            content=b"x",
        )
    )
    assert (reply.status, reply.problem) == (415, "unsupported-media-type")


def test_administrator_may_do_everything_but_connect(world: World) -> None:
    assert set(Scope) - set(ADMINISTRATOR_SCOPES) == {Scope.MACHINE_CONNECT}
    reply = world.run(world.ours.get("/v1/machines/connect"))
    assert (reply.status, reply.json["scope"]) == (403, "machine:connect")


@pytest.mark.parametrize("path", sorted({row.path for row in TABLE}))
def test_other_methods_are_405_and_name_those_of_the_table(world: World, path: str) -> None:
    allowed = {row.method for row in TABLE if row.path == path}
    if "GET" in allowed:
        allowed.add("HEAD")
    address = world.filled(path)
    for other in sorted({"PUT", "DELETE", "PATCH", "POST", "OPTIONS", "HEAD"} - allowed):
        reply = world.run(world.ours.request(other, address, token=None))
        assert reply.status == 405, other
        assert other == "HEAD" or reply.problem == "method-not-allowed"
        assert set(reply.headers["Allow"].split(", ")) == allowed


@pytest.mark.parametrize(
    "path",
    ["/docs/", "/v1", "/v1/machine", "/v1/machines/", "/v1/trajectories/a/b", "/v2/machines"],
)
def test_unknown_address_is_404(world: World, path: str) -> None:
    reply = world.run(world.ours.get(path, token=None))
    assert (reply.status, reply.problem) == (404, "not-found")
