"""This version with an earlier one at the other end of the link: real processes of both."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.desktop import Witness
from tests.end_to_end.system import Workstation, presses
from tests.processes import Program, ServerProcess, joined, until
from tests.versions import source_of

FIRST_EDITION = "b2e50463bad7c9f4412dccb15f2819562df5f824"
"""The last commit whose programs speak protocol 1 of the link alone."""


@pytest.fixture(scope="session")
def first_edition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source of the first edition."""
    directory = source_of(FIRST_EDITION, tmp_path_factory.mktemp("first-edition"))
    assert "PROTOCOL_VERSION = 1\n" in (directory / "schemas" / "wire.py").read_text()
    return directory


@pytest.fixture(scope="module")
def old_server(
    tmp_path_factory: pytest.TempPathFactory, first_edition: Path
) -> Iterator[ServerProcess]:
    server = ServerProcess(tmp_path_factory.mktemp("old"), heartbeat="1")
    with server.run(source=first_edition):
        yield server


@pytest.fixture
def old_workstation(
    old_server: ServerProcess, display: str, tmp_path: Path
) -> Iterator[Workstation]:
    """A machine of an old server."""
    api = old_server.api()
    yield Workstation.added(old_server.url, api, display, tmp_path)
    api.close()


def works(workstation: Workstation, witness: Witness) -> None:
    """Check that an input arrives, and that a retry of it does not."""
    workstation.is_in_state("online")
    witness.take()
    key = f"key-{workstation.machine}-{len(workstation.token)}"
    first = workstation.send("mouse/click", key, x=900, y=700)
    assert first.status == 200, first.body
    assert workstation.send("mouse/click", key, x=900, y=700).body == first.body
    assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]


def second_client(
    workstation: Workstation, source: Path | None
) -> contextlib.AbstractContextManager[Program]:
    """Another client with the same token, on the same desktop, with a journal of its own."""
    return joined(
        workstation.url,
        workstation.token,
        workstation.directory / "second",
        workstation.display,
        source=source,
        heartbeat="1",
        reconnect_longest="1",
    )


def test_old_client_works_with_this_server(
    workstation: Workstation, witness: Witness, first_edition: Path
) -> None:
    with workstation.joined(source=first_edition) as client:
        works(workstation, witness)
        assert client.terminate() == 0


def test_this_client_works_with_an_old_server(
    old_workstation: Workstation, witness: Witness
) -> None:
    with old_workstation.joined() as client:
        works(old_workstation, witness)
        assert client.terminate() == 0
        old_workstation.is_in_state("offline")


def test_old_client_that_is_taken_over_ends_as_it_always_did(
    workstation: Workstation, witness: Witness, first_edition: Path
) -> None:
    with (
        workstation.joined(source=first_edition) as older,
        second_client(workstation, None) as newer,
    ):
        assert older.ends() == 3
        assert "Error: the link was closed for good (4500): a newer connection" in older.output
        works(workstation, witness)
        assert newer.runs


def test_this_client_waits_while_an_old_one_has_the_link(
    workstation: Workstation, witness: Witness, first_edition: Path
) -> None:
    with workstation.joined() as older:
        with second_client(workstation, first_edition) as newer:
            older.says("another machine client with this token has the link")
            works(workstation, witness)
            assert newer.terminate() == 0
        until(lambda: older.output.count("connected to") == 2, "the older client is back")
        workstation.is_in_state("online")


def test_old_server_still_ends_the_older_client(
    old_workstation: Workstation, witness: Witness
) -> None:
    with old_workstation.joined() as older, second_client(old_workstation, None) as newer:
        assert older.ends() == 3
        assert "Error: the link was closed for good (4500): a newer connection" in older.output
        works(old_workstation, witness)
        assert newer.runs


def test_client_stays_while_an_old_server_is_upgraded(
    tmp_path: Path, display: str, first_edition: Path
) -> None:
    server = ServerProcess(tmp_path, heartbeat="1")
    with contextlib.ExitStack() as stack:
        with server.run(source=first_edition) as old:
            api = server.api()
            workstation = Workstation.added(server.url, api, display, tmp_path)
            client = stack.enter_context(workstation.joined())
            assert old.terminate() == 0
        with server.run():
            until(lambda: client.output.count("connected to") == 2, "the machine is back")
            workstation.is_in_state("online")
        api.close()
