"""Which boot of this machine it is."""

import ctypes
import sys
import uuid
from pathlib import Path
from typing import Any

_LINUX_FILE = Path("/proc/sys/kernel/random/boot_id")
_PROCESS_ID = str(uuid.uuid4())


def boot_id() -> str:
    """What stays the same, whoever asks, until the machine boots again.

    Linux: the kernel's own random id (random(4)).
    macOS: the kernel's own random id, the sysctl ``kern.bootsessionuuid``.
    Windows has none: the moment at which the kernel started, to 100 ns; see `_windows_boot`.
    Where a system does not say, an id of this process: then every command that a client before it
    left unresolved counts as unknown, which is safe.
    """
    try:
        if sys.platform == "linux":
            return _LINUX_FILE.read_text().strip()
        if sys.platform == "darwin":
            return _sysctl(ctypes.CDLL(None), "kern.bootsessionuuid")
        if sys.platform == "win32":
            return _windows_boot(ctypes.WinDLL("ntdll"))
    except OSError:
        pass
    return _PROCESS_ID


def _sysctl(library: Any, name: str) -> str:
    """A text that the kernel tells, through ``sysctlbyname`` of sysctl(3).  Raises OSError."""
    text = ctypes.create_string_buffer(64)
    size = ctypes.c_size_t(len(text))
    if library.sysctlbyname(name.encode(), text, ctypes.byref(size), None, 0) != 0:
        raise OSError(f"the kernel does not tell {name}")
    return text.value.decode()


def _windows_boot(ntdll: Any) -> str:
    """When the kernel started.  Raises OSError.

    NtQuerySystemInformation's SystemTimeOfDayInformation (3) begins with BootTime, CurrentTime and
    TimeZoneBias (8 bytes each), TimeZoneId and a reserved number (4 each), BootTimeBias and
    SleepTimeBias (8 each), as ``ntexapi.h`` of Windows' native headers has it.  Whenever somebody
    sets the clock, the kernel moves BootTime along and adds as much to BootTimeBias, so that their
    difference stays what it was at the start.
    """
    numbers = (ctypes.c_int64 * 6)()
    status = ntdll.NtQuerySystemInformation(3, ctypes.byref(numbers), ctypes.sizeof(numbers), None)
    if status != 0:
        raise OSError(f"NtQuerySystemInformation failed with {status & 0xFFFFFFFF:#x}")
    boot_time, bias = numbers[0], numbers[4]
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"boot {boot_time - bias}"))
