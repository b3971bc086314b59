"""A whole node: its start, its end, and its start on the same data."""

import asyncio
import gc
import socket
import stat
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from tornado.httpclient import AsyncHTTPClient

from schemas.inputs.outcomes import ActionResult, Failed
from schemas.link.close_codes import CloseCode
from schemas.link.messages import Input
from schemas.resources.tokens import ADMINISTRATOR_SCOPES, Scope
from server.app import Server
from server.errors import StoreError
from server.foundation import StartError
from server.identity.authentication import secret_hash
from server.secrets.key_file import vault_of
from server.secrets.sealing import Sealing
from server.settings import ServerSettings
from server.store.mongodb.database import Database
from server.store.secret_keys import SecretKeyStore
from tests.service import (
    PATIENCE_SECONDS,
    Service,
    in_new_organization,
    new_key,
    running_server,
    running_service,
    stores_of,
    until,
)
from tests.store import there


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


def is_there(file: Path) -> bool:
    """Whether there is anything of this name."""
    return file.exists()


def mode_of(file: Path) -> int:
    """Who may do what with a file."""
    return stat.S_IMODE(file.stat().st_mode)


def is_open(address: str) -> bool:
    """Whether anything takes connections there."""
    host, port = address.removeprefix("http://").split(":")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError:
        return False
    return True


async def test_started_server_is_ready_where_its_file_says(
    mongodb: str, data_dir: Path, io_loop: object
) -> None:
    async with running_server(mongodb, data_dir) as server:
        address = (data_dir / "address").read_text().strip()
        assert address == server.address
        assert address.startswith("http://127.0.0.1:")
        response = await AsyncHTTPClient().fetch(address + "/readyz")
        assert response.code == 200
    assert not is_open(address)


async def test_first_start_makes_an_administrator_and_no_later_one_does(
    mongodb: str, data_dir: Path, database_name: str
) -> None:
    file = data_dir / "admin-token"
    async with running_server(mongodb, data_dir, database_name) as server:
        secret = file.read_text().strip()
        assert mode_of(file) == 0o600
        assert mode_of(data_dir) == 0o700
        token = there(await stores_of(server).tokens.find_by_hash(secret_hash(secret)))
        assert token.scopes == ADMINISTRATOR_SCOPES
        assert Scope.MACHINE_CONNECT not in token.scopes
        organization = there(await stores_of(server).organizations.get(token.organization_id))
        assert organization.name == "default"
        reply = await Service(server, token.organization_id, secret).get("/v1/machines")
        assert reply.status == 200
    file.unlink()
    async with running_server(mongodb, data_dir, database_name):
        assert not file.exists()


async def test_administrators_token_gets_the_scopes_that_an_upgrade_brings(
    mongodb: str, data_dir: Path, database_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="server.first_administrator")
    async with running_server(mongodb, data_dir, database_name) as server:
        assert "new scopes" not in caplog.text
        # As an installation is left whose Farhand did not know the audit yet.
        database = server.services.operation.database
        await database.collection("tokens").update_many({}, {"$pull": {"scopes": "audit:read"}})
        known = [scope for scope in ADMINISTRATOR_SCOPES if scope is not Scope.AUDIT_READ]
        await database.collection("installation").update_one(
            {"_id": "scopes"}, {"$set": {"known": known}}, upsert=True
        )
    secret = (data_dir / "admin-token").read_text().strip()
    async with running_server(mongodb, data_dir, database_name) as server:
        token = there(await stores_of(server).tokens.find_by_hash(secret_hash(secret)))
        assert set(token.scopes) == set(ADMINISTRATOR_SCOPES)
        assert f"gave the administrator's token 'administrator' ({token.id})" in caplog.text
        assert "new scopes audit:read" in caplog.text
        assert (await Service(server, token.organization_id, secret).get("/v1/audit")).status == 200


async def test_administrator_whose_token_could_not_be_written_is_made_at_the_next_start(
    mongodb: str, data_dir: Path, database_name: str
) -> None:
    obstacle = data_dir / "admin-token.draft"
    obstacle.mkdir(parents=True)
    with pytest.raises(StartError, match="cannot write"):
        async with running_server(mongodb, data_dir, database_name):
            pass
    obstacle.rmdir()
    async with running_server(mongodb, data_dir, database_name) as server:
        secret = (data_dir / "admin-token").read_text().strip()
        assert await stores_of(server).tokens.find_by_hash(secret_hash(secret))


async def test_start_that_was_cut_short_is_made_up_for(
    mongodb: str, data_dir: Path, database_name: str
) -> None:
    async with running_server(mongodb, data_dir, database_name) as server:
        await server.services.operation.database.collection("tokens").delete_many({})
    # There is the organization, but nobody who could get in.
    async with running_server(mongodb, data_dir, database_name) as server:
        secret = (data_dir / "admin-token").read_text().strip()
        assert await stores_of(server).tokens.find_by_hash(secret_hash(secret))


async def test_server_on_the_same_data_knows_what_was_stored(mongodb: str, data_dir: Path) -> None:
    async with running_service(mongodb, data_dir) as service:
        workflow = (await service.post("/v1/workflows", {"name": "kept"})).json
        await service.new_machine()
    async with running_server(mongodb, data_dir) as server:
        again = Service(server, service.organization_id, service.token)
        assert (await again.get(f"/v1/workflows/{workflow['id']}")).json == workflow
        assert (await again.get("/v1/machines/desk-1")).status == 200


async def test_server_that_cannot_open_secrets_does_not_start(
    mongodb: str, database: Database, data_dir: Path, database_name: str, tmp_path: Path
) -> None:
    async with running_server(mongodb, data_dir, database_name):
        pass
    key_file = data_dir / "secret-key"
    sealing = Sealing(vault_of(key_file, may_make=False), SecretKeyStore(database))
    await sealing.seal(uuid4(), {"password": "geheim"})
    async with running_server(mongodb, data_dir, database_name):
        pass
    with pytest.raises(StartError, match="give this node the file that the others have"):
        async with running_server(mongodb, tmp_path / "elsewhere", database_name):
            pass
    key_file.chmod(0o644)
    with pytest.raises(StartError, match="can be read by others: chmod 600"):
        async with running_server(mongodb, data_dir, database_name):
            pass
    key_file.chmod(0o600)
    elsewhere = {"secret_key_file": key_file}
    async with running_server(mongodb, tmp_path / "elsewhere", database_name, **elsewhere):
        pass


async def test_server_brings_a_mongodb_of_its_own(data_dir: Path) -> None:
    server = Server(ServerSettings(port=0, data_dir=data_dir))
    await server.start()
    try:
        service = await in_new_organization(server)
        assert (await service.post("/v1/workflows", {"name": "kept"})).status == 201
        assert (data_dir / "mongodb").is_dir()
    finally:
        await server.stop()


async def test_running_input_ends_and_is_answered_before_the_server_stops(
    mongodb: str, data_dir: Path
) -> None:
    async with running_service(mongodb, data_dir) as service:
        machine = await service.new_machine()
        idle = await service.new_machine("desk-2")
        async with machine.connected() as link, idle.connected() as idle_link:
            background = asyncio.TaskGroup()
            async with background:
                sending = background.create_task(machine.move(new_key()))
                command = await link.heard(Input)
                stopping = background.create_task(service.server.stop())
                await until(lambda: service.server.services.operation.stopping)
                assert not is_open(service.url)
                assert not stopping.done()
                await link.nothing_heard()
                await link.acknowledge(command.command_id)
                reply = await sending
                assert reply.status == 200
                assert reply.json["command_id"] == str(command.command_id)
                for each in (link, idle_link):
                    code, reason = await each.closed()
                    assert code == CloseCode.SERVER_STOPPING
                    assert code < 4500, "the machine must come back"
                    assert "stopping" in reason


async def test_connection_that_is_open_already_is_refused_while_stopping(
    mongodb: str, data_dir: Path
) -> None:
    async with running_service(mongodb, data_dir) as service:
        machine = await service.new_machine()
        reader, writer = await service.open_connection()
        request = (
            f"GET /v1/machines HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.token}\r\n\r\n"
        )
        writer.write(request.encode())
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert b" 200 " in await reader.readline()
            await reader.readuntil(b"\r\n\r\n")
        async with machine.connected() as link, asyncio.TaskGroup() as background:
            sending = background.create_task(machine.move())
            command = await link.heard(Input)
            background.create_task(service.server.stop())
            await until(lambda: service.server.services.operation.stopping)
            writer.write(request.encode())
            async with asyncio.timeout(PATIENCE_SECONDS):
                answer = await reader.readuntil(b"server-stopping")
            assert b" 503 " in answer
            await link.acknowledge(command.command_id)
            assert (await sending).status == 200
        writer.close()


async def test_input_that_never_ends_does_not_keep_the_server(mongodb: str, data_dir: Path) -> None:
    async with running_service(mongodb, data_dir, stop_timeout=0.1) as service:
        machine = await service.new_machine()
        async with machine.connected() as link, asyncio.TaskGroup() as background:
            sending = background.create_task(machine.move())
            await link.heard(Input)
            background.create_task(service.server.stop())
            assert (await link.closed())[0] == CloseCode.SERVER_STOPPING
            assert (await sending).problem == "outcome-pending"


async def test_several_actions_that_do_not_end_in_time_are_ended_and_their_prefix_is_told(
    mongodb: str, data_dir: Path
) -> None:
    interrupted = Failed(
        code="interrupted",
        message="it was interrupted",
        injected_at_least=2,
        actions=(
            ActionResult(operation="mouse.click", status="completed", duration_ms=1.0),
            ActionResult(operation="wait", status="interrupted", code="interrupted"),
        ),
    )
    actions = [{"operation": "mouse.click"}, {"operation": "wait", "seconds": 60}]
    async with running_service(mongodb, data_dir, stop_timeout=0.1) as service:
        machine = await service.new_machine()
        async with machine.connected() as link, asyncio.TaskGroup() as background:
            sending = background.create_task(machine.act(actions, new_key()))
            command = await link.heard(Input)
            background.create_task(service.server.stop())
            await link.interrupted()
            await link.acknowledge(command.command_id, interrupted)
            reply = await sending
            assert (reply.refusal, reply.json["completed"]) == ((502, "input-failed"), 1)
            assert (await link.closed())[0] == CloseCode.SERVER_STOPPING


@pytest.mark.parametrize(("hours", "says"), [(1, "3600 s behind"), (-1, "3600 s ahead of")])
async def test_node_whose_clock_is_wrong_says_so_and_does_not_start(
    mongodb: str,
    nats_url: str,
    data_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    hours: int,
    says: str,
) -> None:
    async def difference(_: Database) -> timedelta:
        return timedelta(hours=hours)

    monkeypatch.setattr(Database, "clock_difference", difference)
    server = Server(
        ServerSettings(data_dir=data_dir, port=0, mongodb_uri=mongodb, nats_url=nats_url)
    )
    with pytest.raises(StartError, match=f"clock is {says} MongoDB's: set it right"):
        await server.start()


# Tornado leaves the socket that it could not bind to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_taken_port_starts_nothing(mongodb: str, data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = Server(ServerSettings(port=port, data_dir=data_dir, mongodb_uri=mongodb))
        with pytest.raises(StartError, match=f"port {port}"):
            await server.start()
    gc.collect()
    assert not is_there(data_dir)


async def test_database_that_cannot_be_used_frees_the_port(data_dir: Path) -> None:
    server = Server(ServerSettings(port=0, data_dir=data_dir, mongodb_uri="nonsense"))
    with pytest.raises(StoreError):
        await server.start()
    assert not is_open(server.address)
    assert not (data_dir / "address").exists()


async def test_address_of_version_6_is_written_in_brackets(mongodb: str, data_dir: Path) -> None:
    async with running_server(mongodb, data_dir, host="::1") as server:
        assert server.address.startswith("http://[::1]:")
        response = await AsyncHTTPClient().fetch(server.address + "/healthz")
        assert response.code == 200
