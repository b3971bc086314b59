"""A server for a test: it starts, is of use, and ends however the test ends."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from farhand import testing


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The processes that are started."""
    processes: list[Any] = []
    popen = subprocess.Popen

    def start(*arguments: Any, **options: Any) -> Any:
        processes.append(popen(*arguments, **options))
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    return processes


def test_server_is_there_for_the_block_alone(
    mongodb: str, fresh_database_name: str, started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of a server that is nobody's to test with.
    monkeypatch.setenv("FARHAND_MONGODB_URI", "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=1")
    settings = {"mongodb_uri": mongodb, "mongodb_database": fresh_database_name}
    with pytest.raises(ZeroDivisionError):
        used_and_broken(settings)
    (process,) = started
    assert process.poll() == 0


def used_and_broken(settings: dict[str, str]) -> None:
    """A test that fails in the middle."""
    with testing.server(**settings) as server:
        with server.client() as farhand:
            assert farhand.machines.add("reception").id == "reception"
        assert asyncio.run(_machines(server)) == ["reception"]
        assert server.token not in repr(server)
        raise ZeroDivisionError


async def _machines(server: testing.Server) -> list[str]:
    async with server.async_client() as farhand:
        return [each.id async for each in farhand.machines.list()]


def test_server_that_does_not_start_says_why(started: list[Any]) -> None:
    why = r"(?s)did not start:.*FARHAND_HEARTBEAT"
    with pytest.raises(testing.NoServer, match=why), testing.server(heartbeat="never"):
        pass
    (process,) = started
    assert process.poll() not in (None, 0)


def test_server_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(testing.NoServer, match="pip install"), testing.server():
        pass
