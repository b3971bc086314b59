import os
from pathlib import Path

from server.process.bounded_log import BoundedLog


def copied(path: Path, lines: list[bytes], *, max_bytes: int) -> BoundedLog:
    reading, writing = os.pipe()
    log = BoundedLog(os.fdopen(reading, "rb"), path, max_bytes=max_bytes)
    log.start()
    with os.fdopen(writing, "wb") as pipe:
        pipe.writelines(lines)
    log.join()
    return log


def test_file_and_the_one_before_it_stay_small(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = copied(path, [b"%08d\n" % number for number in range(1000)], max_bytes=90)
    before = path.with_name("log.1")
    assert path.stat().st_size <= 90
    assert before.stat().st_size == 90
    written = before.read_bytes() + path.read_bytes()
    assert written.endswith(b"00000998\n00000999\n")
    assert log.last_lines[-1] == "00000999"
    assert sorted(tmp_path.iterdir()) == [path, before]


def test_every_start_sets_the_file_before_aside(tmp_path: Path) -> None:
    path = tmp_path / "log"
    copied(path, [b"first\n"], max_bytes=100)
    copied(path, [b"second\n"], max_bytes=100)
    assert path.read_bytes() == b"second\n"
    assert path.with_name("log.1").read_bytes() == b"first\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_pipe_is_emptied_even_where_nothing_can_be_written(tmp_path: Path) -> None:
    lines = [b"x" * 1000 + b"\n"] * 1000
    log = copied(tmp_path / "missing" / "log", [*lines, b"last \xff\n"], max_bytes=100)
    assert log.last_lines[-1] == "last \ufffd"
