"""The parent of workers; tests/end_to_end/test_workers.py has it at work."""

import os
import sys
from pathlib import Path

import pytest

from server.foundation import StartError, bind
from server.settings import ServerSettings
from server.workers.group import WorkerGroup, worker_name


def test_workers_are_numbered() -> None:
    assert [worker_name("host", number) for number in (1, 2)] == ["host-1", "host-2"]
    assert worker_name("x" * 63, 12) == "x" * 60 + "-12"


async def test_without_a_nats_server_nothing_is_left_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    settings = ServerSettings(data_dir=tmp_path, port=0, mongodb_uri="mongodb://127.0.0.1:1/")
    group = WorkerGroup(settings, 2, testing=False)
    with pytest.raises(StartError, match="No nats-server was found: set FARHAND_NATS_URL"):
        await group.start()
    port = int(group.address.rpartition(":")[2])
    bind("127.0.0.1", port)[0].close()


async def test_failing_start_leaves_nothing_running(tmp_path: Path) -> None:
    settings = ServerSettings(
        data_dir=tmp_path, port=0, mongodb_uri="nonsense", nats_url="nats://127.0.0.1:1"
    )
    before = children()
    with pytest.raises(StartError, match="MongoDB URI"):
        await WorkerGroup(settings, 2, testing=False).start()
    assert children() <= before
    assert not (tmp_path / "address").exists()


def children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())
