"""What the C library's allocator does with memory that is no longer used."""

import ctypes
import sys

_M_MMAP_THRESHOLD = -3
MAPPED_BYTES = 1024 * 1024
"""Pictures are larger; what is received at once is smaller, and comes all the time."""


def return_large_blocks() -> None:
    """Have each large block go back to the system as soon as it is freed.

    glibc begins like that, but raises its threshold to the size of every mapped block that is freed
    (mallopt(3), "dynamic mmap threshold"): from the second picture on, each thread's heap grows by
    them and keeps them.  Measured, a VNC server that paints much and is left again and again cost
    130 to 240 MB, and then half of that.  Other C libraries are left as they are.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_MMAP_THRESHOLD, MAPPED_BYTES)
