"""Which boot it is: the same for every process, and another after each start."""

import ctypes
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from machine_client.system import boot
from machine_client.system.boot import boot_id


def test_every_process_is_told_the_same() -> None:
    script = "from machine_client.system.boot import boot_id; print(boot_id())"
    told = subprocess.check_output([sys.executable, "-c", script], text=True).strip()
    assert told == boot_id() == Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def test_system_that_does_not_say_is_another_boot_for_each_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(boot, "_LINUX_FILE", tmp_path / "absent")
    assert boot_id() == boot_id() == boot._PROCESS_ID


def windows(boot_time: int, bias: int, status: int = 0) -> Any:
    """A kernel that tells when it started, and by how much its clock was set since."""

    def query(kind: int, numbers: Any, size: int, _length: None) -> int:
        assert (kind, size) == (3, 48)
        numbers._obj[0], numbers._obj[4] = boot_time, bias
        return status

    return SimpleNamespace(NtQuerySystemInformation=query)


def test_windows_boot_is_its_time_whatever_the_clock_was_set_to_since() -> None:
    first = boot._windows_boot(windows(134_000_000_000_000_000, 0))
    set_forward = boot._windows_boot(windows(134_000_036_000_000_000, 36_000_000_000))
    another = boot._windows_boot(windows(134_000_000_000_000_001, 0))
    assert first == set_forward != another


def test_windows_that_refuses_is_an_error() -> None:
    with pytest.raises(OSError, match="0xc0000004"):
        boot._windows_boot(windows(0, 0, status=-1073741820))


def test_macos_boot_is_what_its_kernel_tells() -> None:
    def sysctlbyname(name: bytes, text: Any, size: Any, *_: object) -> int:
        assert (name, size._obj.value) == (b"kern.bootsessionuuid", ctypes.sizeof(text))
        text.value = b"0A1B"
        return 0

    library = SimpleNamespace(sysctlbyname=sysctlbyname)
    assert boot._sysctl(library, "kern.bootsessionuuid") == "0A1B"
    with pytest.raises(OSError, match="does not tell x"):
        boot._sysctl(SimpleNamespace(sysctlbyname=lambda *_: -1), "x")
