"""What a server takes before anything else, and gives back."""

import os
import socket
import stat
from pathlib import Path

import pytest

from server.foundation import Foundation, StartError, bind, make_private
from server.settings import ServerSettings


def is_open(port: int) -> bool:
    """Whether anything takes connections there."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


async def test_taken_port_refuses_connections_until_it_is_listened_on(tmp_path: Path) -> None:
    foundation = Foundation(ServerSettings(port=0, data_dir=tmp_path, mongodb_uri="mongodb://x"))
    foundation.take()
    assert not is_open(foundation.port)
    (listening,) = foundation.listen()
    with listening:
        assert is_open(foundation.port)
        with pytest.raises(StartError, match=f"port {foundation.port}: Address already in use"):
            bind("127.0.0.1", foundation.port)
    await foundation.release()


async def test_of_two_that_start_at_once_on_one_port_one_is_told(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, data_dir=tmp_path, mongodb_uri="mongodb://x")
    first = Foundation(settings)
    first.take()
    second = Foundation(settings.model_copy(update={"port": first.port}))
    second.take()
    (listening,) = first.listen()
    with listening, pytest.raises(StartError, match="Address already in use"):
        second.listen()
    await second.release()


async def test_what_was_taken_is_free_again(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, data_dir=tmp_path / "data")
    foundation = Foundation(settings)
    foundation.take()
    await foundation.release()
    again = Foundation(settings.model_copy(update={"port": foundation.port}))
    again.take()
    assert (await again.mongodb_uri()).startswith("mongodb://")
    await again.release()
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("umask", [0o022, 0o000])
def test_data_directory_and_those_made_above_it_are_for_their_owner_alone(
    tmp_path: Path, umask: int
) -> None:
    own = tmp_path / "above" / "own"
    before = os.umask(umask)
    try:
        make_private(own)
    finally:
        os.umask(before)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (own.parent, own)] == [0o700] * 2


@pytest.mark.parametrize(
    ("mode", "after"), [(0o777, 0o755), (0o770, 0o750), (0o755, 0o755), (0o1777, 0o1777)]
)
def test_data_directory_that_is_there_is_not_for_others_to_write_into(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int, after: int
) -> None:
    tmp_path.chmod(mode)
    make_private(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == after
    closed = f"others could write into {tmp_path}, and cannot any more"
    assert caplog.messages == [closed] * (mode != after)


def test_file_in_the_place_of_the_data_directory_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for directory in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(StartError, match=r"file.*: Not a directory; .*--data-dir"):
            make_private(directory)


def test_host_with_two_addresses_has_one_port(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0)),
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", 0, 0, 0)),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_arguments, **_options: addresses)
    sockets = bind("localhost", 0)
    assert len(sockets) == 2
    assert len({each.getsockname()[1] for each in sockets}) == 1
    for each in sockets:
        each.close()


def test_host_that_nobody_knows_is_said_in_one_sentence() -> None:
    with pytest.raises(
        StartError, match=r"cannot listen on no-such-host\.invalid port 0: .*--host"
    ):
        bind("no-such-host.invalid", 0)
