"""A lock on a file that ends with the process that has it, however that ends."""

import os
import sys
from typing import Final

_BEYOND: Final = 1 << 20
"""Windows keeps others from what is locked: so a byte is, behind all that they may read."""


def try_lock(file: int) -> bool:
    """Lock an open file for this process alone; False where another one has done so."""
    # Imported where they are used: each exists on its own system alone.
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415

            os.lseek(file, _BEYOND, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
