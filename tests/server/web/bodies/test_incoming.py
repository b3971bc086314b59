"""Who asks is known before a body is kept, and what bodies hold is bounded."""

import itertools
import json
from collections.abc import Callable
from uuid import uuid4

import pytest

from schemas.http.problems import InvalidRequestError
from schemas.resources.tokens import Scope
from schemas.resources.trajectories import MAX_TRAJECTORY_BYTES, MAX_TRAJECTORY_VALUES
from server.web.bodies.incoming import MAX_DRAINED_BYTES, SMALL_BYTES, Body
from server.web.handler import ApiHandler
from tests.raw_http import chunks, connection, head
from tests.service import Service, until

TRAJECTORIES = "POST /v1/trajectories"
LONG = "Content-Length: 11000000"


def trajectory(**members: object) -> bytes:
    """The body of a new trajectory."""
    body = {"workflow_id": str(uuid4()), "dimensions": {"width": 1, "height": 2}}
    return json.dumps({**body, "trajectory_data": None, **members}).encode()


@pytest.mark.parametrize("scope", [None, Scope.TRAJECTORIES_READ])
@pytest.mark.parametrize("framing", [LONG, "Transfer-Encoding: chunked"])
async def test_who_may_not_send_is_told_so_before_the_body_is_there(
    service: Service, scope: Scope | None, framing: str
) -> None:
    token = None if scope is None else await service.new_token(scope)
    async with connection(service) as client:
        await client.say(head(service, TRAJECTORIES, framing, token=token))
        status, _, problem = await client.answer()
        expected = (
            (401, "/problems/unauthenticated") if scope is None else (403, "/problems/forbidden")
        )
        assert (status, problem["type"]) == expected
        assert service.server.services.operation.body_memory.used == 0


async def test_nothing_is_kept_of_a_body_without_a_token(service: Service) -> None:
    memory = service.server.services.operation.body_memory
    async with connection(service) as client:
        await client.say(head(service, TRAJECTORIES, LONG, token=None), b" " * 5_000_000)
        assert (await client.answer())[0] == 401
        assert memory.used == 0
        (body,) = memory.receiving
        assert isinstance(body, Body)
        assert not body._content.getvalue()


async def test_refused_body_is_read_to_its_end_and_the_connection_goes_on(
    service: Service,
) -> None:
    async with connection(service) as client:
        await client.say(head(service, TRAJECTORIES, LONG, token=None), b" " * 11_000_000)
        assert (await client.answer())[0] == 401
        await client.say(head(service, "GET /v1/workflows"))
        assert (await client.answer())[0] == 200
        assert not service.server.services.operation.body_memory.receiving


async def test_refused_body_without_end_is_cut_off(service: Service) -> None:
    async with connection(service) as client:
        await client.say(head(service, TRAJECTORIES, "Transfer-Encoding: chunked", token=None))
        assert (await client.answer())[0] == 401
        endless = itertools.cycle(list(chunks([b" " * 1_000_000]))[:1])
        with pytest.raises(ConnectionError):
            await client.say(*itertools.islice(endless, 200))
        await until(lambda: not service.server.services.operation.body_memory.receiving)


async def test_body_that_is_promised_too_long_to_wait_for_is_refused_at_once(
    service: Service,
) -> None:
    async with connection(service) as client:
        await client.say(head(service, TRAJECTORIES, f"Content-Length: {MAX_DRAINED_BYTES + 1}"))
        assert (await client.answer())[0] == 413
        assert await client.rest() == b""


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ({"token": None, "length": 11}, 401),
        ({"token": "", "length": MAX_TRAJECTORY_BYTES + 1}, 413),
        ({"token": "", "length": 11, "media": "xml"}, 415),
    ],
)
async def test_who_waits_for_100_continue_sends_nothing_that_is_refused(
    service: Service, lines: dict[str, object], status: int
) -> None:
    given = dict(lines)
    length = f"Content-Length: {given.pop('length')}"
    async with connection(service) as client:
        await client.say(head(service, TRAJECTORIES, length, "Expect: 100-continue", **given))  # type: ignore[arg-type]
        assert (await client.answer())[0] == status
        assert await client.rest() == b""


async def test_who_waits_for_100_continue_and_may_send_is_told_to(service: Service) -> None:
    content = trajectory()
    async with connection(service) as client:
        length = f"Content-Length: {len(content)}"
        await client.say(head(service, TRAJECTORIES, length, "Expect: 100-continue"))
        assert (await client.answer())[0] == 100
        await client.say(content)
        assert (await client.answer())[0] == 201


def unknown_members() -> bytes:
    return b"{" + b",".join(b'"k%d":1' % number for number in range(990_000)) + b"}"


def long_dimensions() -> bytes:
    return trajectory(dimensions={"width": 1, "height": 1, **{f"k{n}": 1 for n in range(800_000)}})


def empty_steps() -> bytes:
    return trajectory(trajectory_data=[{}] * 2_000_000)


def long_numbers() -> bytes:
    return trajectory(trajectory_data=[{"a": "1" * 4000}] * 3000).replace(b'"1', b"1")[:12_000_000]


# Functions, so that these bodies are made where they are sent, and not by whoever reads this file.
@pytest.mark.parametrize(
    "too_many_values", [unknown_members, long_dimensions, empty_steps, long_numbers]
)
async def test_body_with_too_many_values_is_413_and_nothing_parses_it(
    service: Service, too_many_values: Callable[[], bytes]
) -> None:
    reply = await service.post("/v1/trajectories", content=too_many_values())
    assert (reply.status, reply.problem) == (413, "body-too-large")
    assert reply.json["max_values"] == MAX_TRAJECTORY_VALUES
    assert MAX_TRAJECTORY_VALUES < reply.json["values"] < 300_000
    assert f"at most {MAX_TRAJECTORY_VALUES} JSON values" in reply.json["detail"]
    assert str(reply.json["values"]) in reply.json["detail"]
    assert service.server.services.operation.body_memory.used == 0


async def test_every_operation_bounds_the_values_of_its_body(service: Service) -> None:
    made = await service.post("/v1/trajectories", content=trajectory())
    path = f"/v1/trajectories/{made.json['id']}"
    many = b'{"steps":[' + b",".join([b"{}"] * MAX_TRAJECTORY_VALUES) + b"]}"
    few = b"[" + b",".join([b"0"] * 200) + b"]"
    for method, address, content in (
        ("POST", f"{path}/steps", many),
        ("PATCH", path, many),
        ("POST", f"{path}/duplicate", few),
        ("POST", "/v1/workflows", many),
        ("POST", "/v1/tokens", few),
        ("POST", "/v1/machines", few),
        ("POST", "/v1/computer/m/input/mouse/click", few),
        ("POST", "/v1/computer/m/input/mouse/move", many),
        ("POST", "/console/session", few),
    ):
        reply = await service.request(method, address, content=content)
        assert (reply.status, reply.problem) == (413, "body-too-large"), address


async def test_trajectory_whose_size_is_in_its_texts_is_taken(service: Service) -> None:
    frame = len(trajectory(trajectory_data=[{"text": ""}]))
    content = trajectory(trajectory_data=[{"text": "x" * (MAX_TRAJECTORY_BYTES - frame)}])
    assert len(content) == MAX_TRAJECTORY_BYTES
    assert (await service.post("/v1/trajectories", content=content)).status == 201
    assert service.server.services.operation.body_memory.used == 0


async def test_trajectory_of_ten_thousand_steps_is_taken(service: Service) -> None:
    step = {"type": "click", "x": 1, "y": 2, "button": "left", "at": "2024", "ok": True, "n": None}
    content = trajectory(trajectory_data=[step] * 10_000)
    assert (await service.post("/v1/trajectories", content=content)).status == 201


async def test_text_full_of_what_looks_like_values_is_only_a_text(service: Service) -> None:
    async with service.joined() as (machine, link):
        typing = service.server.services.background.start(
            service.post(machine.input_path("keyboard/type"), {"text": '[{",' * 250}), "typing"
        )
        await link.obeys(typing)


async def test_only_as_many_mistakes_are_looked_for_as_are_told(service: Service) -> None:
    unknown = {f"k{number}": number for number in range(90_000)}
    reply = await service.post("/v1/trajectories", unknown)
    assert reply.faults == [(["body", f"k{number}"], "extra_forbidden") for number in range(20)]
    assert reply.json["detail"][7]["input"] == 7


async def test_field_with_another_name_in_python_is_not_among_the_unknown_ones(
    service: Service,
) -> None:
    machine = await service.new_machine()
    unknown = {f"k{number}": number for number in range(30)}
    body = {"x": 1, "y": 1, "in": {"width": 5, "height": 5}, **unknown}
    reply = await service.post(machine.input_path("mouse/move"), body)
    assert reply.faults == [(["body", f"k{number}"], "extra_forbidden") for number in range(20)]


@pytest.mark.own_server
class TestRoom:
    """All bodies together."""

    async def test_body_that_finds_no_room_is_503_and_comes_through_later(
        self, service: Service
    ) -> None:
        memory, content = service.server.services.operation.body_memory, trajectory(name="x" * 200)
        content = content.ljust(2 * SMALL_BYTES)
        memory.limit = len(content)
        async with connection(service) as client:
            length = f"Content-Length: {len(content)}"
            await client.say(head(service, TRAJECTORIES, length), content[:-1])
            await until(lambda: memory.used == len(content) - 1)
            reply = await service.post("/v1/trajectories", content=content)
            assert (reply.status, reply.problem) == (503, "server-busy")
            assert reply.headers["Retry-After"] == "1"
            await client.say(content[-1:])
            assert (await client.answer())[0] == 201
        assert memory.used == 0
        assert (await service.post("/v1/trajectories", content=content)).status == 201

    async def test_room_that_goes_while_a_body_comes_ends_it(self, service: Service) -> None:
        memory = service.server.services.operation.body_memory
        async with connection(service) as client:
            await client.say(head(service, TRAJECTORIES, LONG), b" " * 100_000)
            await until(lambda: memory.used)
            memory.limit = 0
            await client.say(b" " * 100_000)
            status, _, problem = await client.answer()
            assert (status, problem["type"]) == (503, "/problems/server-busy")
            assert memory.used == 0

    async def test_room_of_a_client_that_goes_away_is_given_back(self, service: Service) -> None:
        memory = service.server.services.operation.body_memory
        async with connection(service) as client:
            await client.say(head(service, TRAJECTORIES, LONG), b" " * 100_000)
            await until(lambda: memory.used)
        await until(lambda: not memory.used)

    async def test_room_of_a_request_that_reaches_no_operation_is_given_back(
        self, service: Service
    ) -> None:
        memory, length = (
            service.server.services.operation.body_memory,
            f"Content-Length: {2 * SMALL_BYTES}",
        )
        async with connection(service) as client:
            # The address has a route; that what it names is not UTF-8 is seen after the body.
            request = head(service, "PATCH /v1/trajectories/%ff", length)
            await client.say(request, b" " * 2 * SMALL_BYTES)
            assert (await client.answer())[0] == 404
        assert memory.used == 0

    async def test_small_body_needs_no_room(self, service: Service) -> None:
        service.server.services.operation.body_memory.limit = 0
        assert (await service.post("/v1/workflows", {"name": "small"})).status == 201


@pytest.mark.parametrize("path", ["/nowhere", "/v1/workflows"])
async def test_body_that_nobody_takes_is_not_kept(service: Service, path: str) -> None:
    async with connection(service) as client:
        await client.say(head(service, f"PUT {path}", "Content-Length: 100000"), b" " * 100_000)
        assert (await client.answer())[0] in (404, 405)
        await client.say(head(service, "GET /v1/workflows"))
        assert (await client.answer())[0] == 200


@pytest.mark.parametrize("unknown", [1, 5000])
async def test_refused_body_does_not_live_on_in_its_error(
    service: Service, monkeypatch: pytest.MonkeyPatch, unknown: int
) -> None:
    """Errors wait for the garbage collector; many large bodies with a mistake would pile up."""
    refuse, caught = ApiHandler.answer_refusal, []

    def caught_too(self: ApiHandler, error: InvalidRequestError) -> None:
        caught.append((self.request.body, error.__context__, error.__traceback__))
        refuse(self, error)

    monkeypatch.setattr(ApiHandler, "answer_refusal", caught_too)
    members = {f"k{number}": "x" * 100 for number in range(unknown)}
    assert (await service.post("/v1/trajectories", members)).status == 422
    assert caught == [(b"", None, None)]
