"""What all operations share: bodies, ids of requests, failures, and what is never logged."""

import asyncio
import gc
import logging
from collections import Counter
from types import TracebackType
from typing import Any
from uuid import uuid4

import pytest

from server.errors import StoreError, StoreUnavailable
from server.store.machines.machines import MachineStore
from server.store.machines.rows import MachineRowStore
from tests.service import PATIENCE_SECONDS, Service, new_key

WORKFLOWS = "/v1/workflows"


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"nonsense", b'{"name":"a"} {}', b'{"name":"\xff"}', b'{"name":"\\ud800"}'],
)
async def test_body_that_is_not_json_is_422_json_invalid(service: Service, content: bytes) -> None:
    reply = await service.post(WORKFLOWS, content=content)
    assert reply.faults == [(["body"], "json_invalid")]


async def test_body_nested_too_deeply_is_422(service: Service) -> None:
    reply = await service.post("/v1/trajectories", content=b"[" * 1000)
    assert reply.faults == [(["body"], "json_invalid")]
    assert "recursion limit" in reply.json["detail"][0]["msg"]


async def test_body_nested_without_end_is_413(service: Service) -> None:
    assert (await service.post(WORKFLOWS, content=b"[" * 60_000)).refusal == (413, "body-too-large")


@pytest.mark.parametrize(
    "media_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json"],
)
async def test_other_media_type_is_415(service: Service, media_type: str) -> None:
    headers = {"Content-Type": media_type}
    reply = await service.post(WORKFLOWS, content=b'{"name":"a"}', headers=headers)
    assert (reply.status, reply.problem) == (415, "unsupported-media-type")


@pytest.mark.parametrize(
    "media_type", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/json ;x=1"]
)
async def test_media_type_may_have_parameters_and_any_case(
    service: Service, media_type: str
) -> None:
    headers = {"Content-Type": media_type}
    assert (await service.post(WORKFLOWS, content=b'{"name":"a"}', headers=headers)).status == 201


async def test_request_id_is_kept_where_it_is_sane(service: Service) -> None:
    for given, kept in (("my-id.7", True), ("two words", False), ("i" * 65, False)):
        reply = await service.get("/v1/machines", headers={"X-Request-Id": given})
        assert (reply.headers["X-Request-Id"] == given) is kept
        assert reply.headers["X-Request-Id"]


async def test_request_ids_differ(service: Service) -> None:
    ids = {(await service.get("/healthz")).headers["X-Request-Id"] for _ in range(3)}
    assert len(ids) == 3


async def test_answers_are_not_kept_and_say_nothing_about_the_server(service: Service) -> None:
    for path in ("/v1/machines", "/nowhere", "/healthz"):
        reply = await service.get(path)
        assert "Server" not in reply.headers
        assert "Etag" not in reply.headers
        assert reply.headers["Cache-Control"] == "no-store"


def failing(error: Exception) -> Any:
    async def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


async def test_absent_database_is_503_with_retry_after(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = StoreUnavailable("The database does not answer.")
    monkeypatch.setattr(MachineRowStore, "all", failing(error))
    reply = await service.get("/v1/machines")
    assert (reply.status, reply.problem) == (503, "storage-unavailable")
    assert reply.headers["Retry-After"] == "1"


@pytest.mark.parametrize("error", [RuntimeError("password=hunter2"), StoreError("code 7")])
async def test_unforeseen_error_is_500_and_its_words_stay_inside(
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    monkeypatch.setattr(MachineRowStore, "all", failing(error))
    with caplog.at_level(logging.ERROR):
        reply = await service.get("/v1/machines?skip=0&limit=7")
    assert (reply.status, reply.problem) == (500, "internal-error")
    assert str(error).encode() not in reply.body
    (line,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert reply.headers["X-Request-Id"] in line.getMessage()
    assert line.exc_info is not None
    # The query may hold what people search for.
    assert "limit=7" not in caplog.text


async def test_stopping_server_refuses_new_requests_but_lives(service: Service) -> None:
    services = service.server.services
    services.operation.stopping = True
    reply = await service.get("/v1/machines")
    assert (reply.status, reply.problem) == (503, "server-stopping")
    assert reply.headers["Retry-After"] == "1"
    assert reply.headers["Connection"] == "close"
    assert (await service.get("/healthz")).status == 200
    services.operation.stopping = False


async def test_requests_under_way_are_counted_until_they_end(service: Service) -> None:
    machine = await service.new_machine()
    services = service.server.services
    async with machine.connected() as link:
        # The machine's own connection is no request that would ever end.
        assert services.operation.under_way == 0
        sending = machine.moving()
        await link.obey()
        await sending
        assert (await machine.move(token=None)).status == 401
        assert services.operation.under_way == 0


SECRET = "Hunter2Hunter2"


async def test_no_body_query_or_token_reaches_the_log(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    machine = await service.new_machine()
    path = machine.input_path("keyboard/key")
    keys = " ".join(SECRET)
    headers = {"Idempotency-Key": new_key()}
    background = service.server.services.background
    with caplog.at_level(logging.DEBUG):
        async with machine.connected() as link:
            for body in ({"text": keys}, {"text": keys, "down": None}):
                sending = background.start(service.post(path, body, headers=headers), "a client")
                await link.obeys(sending)
                headers = {}
        wrong_bodies: list[Any] = [
            {"text": SECRET},
            {"text": keys, "down": SECRET},
            {"text": keys, SECRET: 1},
            {"text": [SECRET]},
            SECRET,
        ]
        for wrong in wrong_bodies:
            assert (await service.post(path, wrong)).status == 422
        assert (await service.post(path, content=SECRET.encode())).status == 422
        form = {"Content-Type": "multipart/form-data"}
        assert (await service.post(path, content=SECRET.encode(), headers=form)).status == 415
        assert (await service.post(path, {"text": keys})).status == 503
        assert (await service.get(f"/v1/trajectories?search={SECRET}")).status == 200
        assert (await service.get(f"/v1/trajectories?limit={SECRET}")).status == 422
        assert (await service.get("/v1/machines", token=f"fh_{SECRET}")).status == 401
        service.flush_access_log()
    assert f"POST {path} 200" in caplog.text
    # The tests' own websocket library logs what it sends; only the server's log is judged.
    lines = [
        record.getMessage()
        for record in caplog.records
        if not record.name.startswith(("websockets", "asyncio", "pymongo"))
    ]
    assert lines
    for line in lines:
        assert SECRET not in line
        assert keys not in line


async def test_failure_in_the_midst_of_an_input_logs_no_body(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    machine = await service.new_machine()
    keys = " ".join(SECRET)
    monkeypatch.setattr(MachineStore, "get", failing(RuntimeError("a defect")))
    with caplog.at_level(logging.DEBUG, "server"):
        reply = await service.post(machine.input_path("keyboard/key"), {"text": keys})
    assert reply.status == 500
    text = "\n".join(
        record.getMessage() + str(record.exc_text)
        for record in caplog.records
        if not record.name.startswith(("pymongo", "asyncio"))
    )
    assert "a defect" in text
    assert keys not in text


async def test_wrong_values_are_told_back_cut(service: Service) -> None:
    reply = await service.post(WORKFLOWS, {"name": "n" * 5000})
    (entry,) = reply.json["detail"]
    assert set(entry) == {"loc", "msg", "type", "input", "ctx"}
    assert entry["input"] == "n" * 1000
    assert entry["ctx"] == {"max_length": 255}
    assert "class" not in entry["msg"]


async def test_client_that_goes_away_in_the_midst_harms_nothing(service: Service) -> None:
    machine = await service.new_machine()
    host, port = service.url.removeprefix("http://").split(":")
    async with machine.connected() as link, asyncio.timeout(PATIENCE_SECONDS):
        _, writer = await asyncio.open_connection(host, int(port))
        body = b'{"x":1,"y":2}'
        head = (
            f"POST {machine.input_path()} HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {service.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()
        await link.obey()
        writer.close()
        await writer.wait_closed()
        await link.obeys(machine.moving())


@pytest.mark.parametrize("path", ["/v1/machines/%ff", "/v1/workflows/%ff", "/problems/%ff"])
async def test_address_that_is_not_utf_8_is_404(service: Service, path: str) -> None:
    assert (await service.get(path)).refusal == (404, "not-found")


@pytest.mark.parametrize(
    "path",
    [
        "/v1/audit?token_id=",
        "/v1/audit?token_id=null&machine_id=&action=&created_at_from=&created_at_to=",
        "/v1/trajectories?workflow_id=&run_id=&search=&is_approved=&created_at_to=&include=",
        "/v1/trajectories/export?workflow_id=&after_id=&after_created_at=",
    ],
)
async def test_empty_filter_means_none(service: Service, path: str) -> None:
    await service.post(WORKFLOWS, {"name": "for the audit"})
    bare = await service.get(path.partition("?")[0])
    given = await service.get(path)
    assert (given.status, given.body) == (200, bare.body)


def frames_kept() -> Counter[str]:
    """The functions of the server whose frames errors still hold, and how many do."""
    tracebacks = (each for each in gc.get_objects() if type(each) is TracebackType)
    codes = (each.tb_frame.f_code for each in tracebacks)
    return Counter(code.co_qualname for code in codes if "/server/web/" in code.co_filename)


@pytest.mark.usefixtures("no_garbage_collection")
async def test_refusal_keeps_nothing_of_its_request_until_garbage_is_collected(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = frames_kept()  # Of errors that earlier tests hold.
    assert (await service.post(WORKFLOWS, {"name": "a", "nam": 1})).status == 422
    assert (await service.get(f"{WORKFLOWS}/{uuid4()}")).status == 404
    error = StoreUnavailable("The database does not answer.")
    monkeypatch.setattr(MachineRowStore, "all", failing(error))
    assert (await service.get("/v1/machines")).status == 503
    assert frames_kept() == before
