"""A session's file on a real disk: one program has it, and a line is there whole or not at all."""

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from farhand._session_file import MAX_BYTES, SessionFile
from farhand.errors import SessionError, SessionInUse


@contextmanager
def full_disk(bytes_left: int, file: Path) -> Iterator[None]:
    """Let no file of this process become longer than that one by so much."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + bytes_left, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "order.session"


def test_lines_are_there_when_it_is_opened_again(path: Path) -> None:
    file = SessionFile(path)
    assert file.open() == b""
    file.add(b"one", flush=True)
    file.close()
    assert file.open() == b"one\n"
    file.add(b"two", flush=False)
    file.close()
    assert path.read_bytes() == b"one\ntwo\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_line_is_on_the_disk_before_add_returns(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk: list[bytes] = []
    with closing(SessionFile(path)) as file:
        file.open()
        monkeypatch.setattr(os, "fsync", lambda _: on_disk.append(path.read_bytes()))
        file.add(b"one", flush=True)
        assert on_disk[0] == b"one\n"
        flushed = len(on_disk)
        file.add(b"two", flush=False)
        assert len(on_disk) == flushed


def test_one_has_it_at_a_time(path: Path) -> None:
    file, other = SessionFile(path), SessionFile(path)
    file.open()
    with pytest.raises(SessionInUse, match="another program"):
        other.open()
    with pytest.raises(SessionInUse, match="this program"):
        file.open()
    assert file.is_open
    file.close()
    other.open()
    other.close()


def test_of_a_line_that_finds_no_room_nothing_is_left(path: Path) -> None:
    with closing(SessionFile(path)) as file:
        file.open()
        file.add(b"one", flush=True)
        with full_disk(5, path), pytest.raises(SessionError, match=r"cannot write .*too large"):
            file.add(b"a line of more than five bytes", flush=True)
        assert path.read_bytes() == b"one\n"
        file.add(b"two", flush=True)
        assert path.read_bytes() == b"one\ntwo\n"


def test_what_stands_behind_the_last_line_is_cut_off(path: Path) -> None:
    path.write_bytes(b"one\ntw")
    with closing(SessionFile(path)) as file:
        assert file.open() == b"one\ntw"
        file.cut(4)
        file.add(b"two", flush=True)
    assert path.read_bytes() == b"one\ntwo\n"


def test_what_is_no_file_or_too_long_is_refused(tmp_path: Path, path: Path) -> None:
    with path.open("wb") as long:
        long.truncate(MAX_BYTES + 1)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for wrong, why in (
        (tmp_path, "Is a directory"),
        (tmp_path / "missing" / "file", "No such file"),
        (Path("/dev/null"), "no ordinary file"),
        (fifo, "no ordinary file"),
        (path, "too long"),
    ):
        file = SessionFile(wrong)
        with pytest.raises(SessionError, match=why):
            file.open()
        assert not file.is_open
