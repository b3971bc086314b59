"""What the C library's allocator does with memory that is no longer used."""

from typing import Any

_M_MMAP_THRESHOLD = -3


def return_large_blocks(c_library: Any, least_bytes: int) -> None:
    """Have each block of so many bytes go back to Linux as soon as it is freed.

    ``c_library`` is the program's own, as `ctypes.CDLL` has it.  glibc begins like that, but raises
    its threshold to the size of every mapped block that is freed (mallopt(3), "dynamic mmap
    threshold"): after the first large one all others come from the heap, where what is freed
    between two small objects stays.  Other C libraries are left as they are.
    """
    mallopt = getattr(c_library, "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, least_bytes)
