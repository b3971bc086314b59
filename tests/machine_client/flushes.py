"""A process in which no file can be flushed to its disk, so that whoever tries is found out.

The kernel itself refuses the calls (a seccomp filter), which needs no rights and no other program.
"""

import ctypes
import errno
import os
import platform
import struct
import tempfile

_FLUSHING_CALLS = {"x86_64": (74, 75), "aarch64": (82, 83)}
"""The numbers of fsync and fdatasync, by processor (linux, asm/unistd.h)."""

_LOAD_CALL_NUMBER = (0x20, 0, 0, 0)
_JUMP_IF_EQUAL = 0x15
_RETURN = 0x06
_ALLOW = 0x7FFF_0000
_REFUSE = 0x0005_0000 | errno.EIO

_SET_NO_NEW_PRIVILEGES = 38
_SET_SECCOMP = 22
_FILTER_MODE = 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def forbid_flushes() -> None:
    """From now on, until this process ends, every fsync and fdatasync fails with EIO."""
    fsync, fdatasync = _FLUSHING_CALLS[platform.machine()]
    steps = [
        _LOAD_CALL_NUMBER,
        (_JUMP_IF_EQUAL, 2, 0, fsync),
        (_JUMP_IF_EQUAL, 1, 0, fdatasync),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    control = ctypes.CDLL(None, use_errno=True).prctl
    for request in (
        (_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0),
        (_SET_SECCOMP, _FILTER_MODE, ctypes.byref(_Program(len(steps), code)), 0, 0),
    ):
        if control(*request):
            raise OSError(ctypes.get_errno(), "the kernel takes no seccomp filter")
    _check_that_flushes_fail()


def _check_that_flushes_fail() -> None:
    with tempfile.TemporaryFile() as file:
        for flush in (os.fsync, os.fdatasync):
            try:
                flush(file.fileno())
            except OSError as error:
                if error.errno == errno.EIO:
                    continue
                raise
            raise AssertionError(f"{flush.__name__} was not refused")
