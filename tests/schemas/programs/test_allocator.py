"""Where the allocator puts large blocks, in a process of its own: it cannot be taken back."""

import platform
import subprocess
import sys

import pytest

AFTER_A_LARGER_ONE = """
import ctypes
import sys
from pathlib import Path
from schemas.programs.allocator import return_large_blocks

if sys.argv[1] == "told":
    return_large_blocks(ctypes.CDLL(None), 1_000_000)
blocks = [bytes(12_000_000)]
blocks.clear()
block = bytes(8_000_000)
(heap,) = (line for line in Path("/proc/self/maps").read_text().splitlines() if "[heap]" in line)
start, end = (int(bound, 16) for bound in heap.split()[0].split("-"))
print(start <= id(block) < end)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is about glibc's allocator")
@pytest.mark.parametrize(("told", "is_in_heap"), [("told", "False"), ("untold", "True")])
def test_large_block_is_not_in_the_heap_though_a_larger_one_was_freed(
    told: str, is_in_heap: str
) -> None:
    command = (sys.executable, "-c", AFTER_A_LARGER_ONE, told)
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.strip() == is_in_heap
