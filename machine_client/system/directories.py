"""Where programs keep what is theirs, as each system has it."""

import ctypes
import os
import sys
from pathlib import Path
from typing import Final

from machine_client.system.libraries import library

_LOCAL_APPLICATION_DATA: Final = 0x1C  # CSIDL_LOCAL_APPDATA
_LONGEST_PATH: Final = 260


def state_directory() -> Path:
    """Where a machine client keeps what must outlive it, for its user alone.

    Windows: in ``%LOCALAPPDATA%``, which stays on the machine and which its user, administrators
    and the system can read.  Elsewhere as the XDG Base Directory Specification has it by default.

    Raises OSError where this user has none.
    """
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or _local_application_data()
        return Path(base) / "Farhand" / "machine"
    try:
        return Path.home() / ".local" / "state" / "farhand-machine"
    except RuntimeError:
        raise OSError("this user has no home directory") from None


def _local_application_data() -> str:
    """What the shell says, where a program was started without an environment."""
    path = ctypes.create_unicode_buffer(_LONGEST_PATH)
    if library("shell32").SHGetFolderPathW(None, _LOCAL_APPLICATION_DATA, None, 0, path) != 0:
        raise OSError("Windows does not tell where programs keep their data")
    return path.value
