"""What a machine client keeps is for its user alone."""

import ctypes
import os
import stat
import subprocess
import sys
from ctypes import wintypes
from pathlib import Path
from typing import Any

import pytest

from machine_client.system.private_files import (
    keep_others_from_writing,
    make_private_directory,
    make_private_file,
    who_else_reads,
)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no modes")
@pytest.mark.parametrize("umask", [0o022, 0o000])
def test_directory_and_those_made_above_it_are_for_their_owner_alone(
    tmp_path: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        make_private_directory(tmp_path / "above" / "own")
    finally:
        os.umask(before)
    for made in (tmp_path / "above", tmp_path / "above" / "own"):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no modes")
@pytest.mark.parametrize(
    ("mode", "after"), [(0o777, 0o755), (0o770, 0o750), (0o755, 0o755), (0o1777, 0o1777)]
)
def test_directory_of_ours_is_not_for_others_to_write_into(
    tmp_path: Path, mode: int, after: int
) -> None:
    tmp_path.chmod(mode)
    assert keep_others_from_writing(tmp_path) is (mode != after)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == after


def test_file_in_the_place_of_a_directory_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        make_private_directory(tmp_path / "file")


@pytest.mark.skipif(sys.platform != "win32", reason="Windows alone has lists of access")
def test_list_of_access_names_the_user_and_the_system_alone(tmp_path: Path) -> None:
    own, others = tmp_path / "Jörg Müller" / "own", tmp_path / "others"
    make_private_directory(own)
    others.mkdir()
    (own / "journal").write_bytes(b"x")
    assert {*_who_may(own)} < {*_who_may(others)}
    assert len(_who_may(own)) <= 2


def test_directory_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    make_private_directory(tmp_path)
    make_private_directory(tmp_path)
    assert (tmp_path / "file").exists()


def test_file_is_for_its_user_alone_and_is_made_once(tmp_path: Path) -> None:
    file = tmp_path / "Jörg Müller"
    make_private_file(file)
    assert who_else_reads(file) is None
    file.write_bytes(b"x")
    make_private_file(file)
    assert file.read_bytes() == b"x"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no modes")
@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_file_that_others_read_is_told_with_what_ends_it(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "Jörg's token"
    file.touch()
    file.chmod(mode)
    told = who_else_reads(file)
    assert told is not None
    _, _, command = told.partition(f"others can read {file}: ")
    subprocess.run(command, shell=True, check=True)
    assert who_else_reads(file) is None


@pytest.mark.skipif(sys.platform != "win32", reason="Windows alone has lists of access")
def test_file_that_others_read_is_told_with_who_they_are(tmp_path: Path) -> None:
    file = tmp_path / "Jörg's token"
    make_private_file(file)
    _allow_everyone(file)
    told = who_else_reads(file)
    assert told is not None
    assert told.startswith(f"others can read {file} (Everyone): icacls")


def test_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        who_else_reads(tmp_path / "nowhere")


def _allow_everyone(path: Path) -> None:
    advapi32: Any = getattr(ctypes, "windll").advapi32  # noqa: B009  there is none on Linux
    descriptor = ctypes.c_void_p()
    assert advapi32.ConvertStringSecurityDescriptorToSecurityDescriptorW(
        "D:P(A;;FA;;;WD)", 1, ctypes.byref(descriptor), None
    )
    assert advapi32.SetFileSecurityW(str(path), 4, descriptor)


def _who_may(path: Path) -> list[str]:
    """Whom a directory's list of access allows something."""
    advapi32: Any = getattr(ctypes, "windll").advapi32  # noqa: B009  there is none on Linux
    descriptor = ctypes.create_string_buffer(4096)
    size = wintypes.DWORD()
    assert advapi32.GetFileSecurityW(str(path), 4, descriptor, len(descriptor), ctypes.byref(size))
    text = ctypes.c_wchar_p()
    assert advapi32.ConvertSecurityDescriptorToStringSecurityDescriptorW(
        descriptor, 1, 4, ctypes.byref(text), None
    )
    entries = str(text.value).split("(")[1:]
    return [entry.rstrip(")").split(";")[5] for entry in entries if entry.startswith("A;")]
