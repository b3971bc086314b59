"""Directories that their user alone may look into, as each system says that."""

import ctypes
import sys
from ctypes import wintypes
from pathlib import Path
from typing import Any, Final

_DACL: Final = 0x00000004  # DACL_SECURITY_INFORMATION
_PROTECTED: Final = 0x80000000  # PROTECTED_DACL_SECURITY_INFORMATION
_TOKEN_QUERY: Final = 0x0008
_TOKEN_USER: Final = 1
_REVISION: Final = 1  # SDDL_REVISION_1


def make_private_directory(directory: Path) -> None:
    """Make a directory, and those above it, where they are not there; ours is for its user alone.

    One that is there already stays as it is.  Windows knows no modes: what is in ours is for its
    user and the system, and inherits nothing from above.  Raises OSError.
    """
    if sys.platform == "win32" and not directory.exists():
        directory.mkdir(parents=True, exist_ok=True)
        _keep_to_user(directory)
    else:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)


def _keep_to_user(path: Path) -> None:
    advapi32: Any = _library("advapi32")
    kernel32: Any = _library("kernel32")
    # Full access, for what will be in it as well (OICI), to the user and the system (SY).
    allowed = f"D:P(A;OICI;FA;;;{_user_sid(advapi32, kernel32)})(A;OICI;FA;;;SY)"
    descriptor = ctypes.c_void_p()
    make = advapi32.ConvertStringSecurityDescriptorToSecurityDescriptorW
    make.argtypes = (wintypes.LPCWSTR, wintypes.DWORD, ctypes.c_void_p, ctypes.c_void_p)
    if not make(allowed, _REVISION, ctypes.byref(descriptor), None):
        raise _failed(path)
    try:
        put = advapi32.SetFileSecurityW
        put.argtypes = (wintypes.LPCWSTR, wintypes.DWORD, ctypes.c_void_p)
        if not put(str(path), _DACL | _PROTECTED, descriptor):
            raise _failed(path)
    finally:
        _free(kernel32, descriptor)


def _user_sid(advapi32: Any, kernel32: Any) -> str:
    """The user of this process, as security descriptors name one."""
    kernel32.GetCurrentProcess.restype = wintypes.HANDLE
    token = wintypes.HANDLE()
    open_token = advapi32.OpenProcessToken
    open_token.argtypes = (wintypes.HANDLE, wintypes.DWORD, ctypes.c_void_p)
    if not open_token(kernel32.GetCurrentProcess(), _TOKEN_QUERY, ctypes.byref(token)):
        raise _failed("the user of this program")
    try:
        # A TOKEN_USER, whose SID lies behind it.
        user = (ctypes.c_void_p * 32)()
        size = wintypes.DWORD()
        tell = advapi32.GetTokenInformation
        tell.argtypes = (
            *(wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD, ctypes.c_void_p),
        )
        text = ctypes.c_wchar_p()
        name = advapi32.ConvertSidToStringSidW
        name.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        if not tell(token, _TOKEN_USER, user, ctypes.sizeof(user), ctypes.byref(size)) or not name(
            user[0], ctypes.byref(text)
        ):
            raise _failed("the user of this program")
        sid = str(text.value)
        _free(kernel32, text)
        return sid
    finally:
        kernel32.CloseHandle.argtypes = (wintypes.HANDLE,)
        kernel32.CloseHandle(token)


def _free(kernel32: Any, memory: Any) -> None:
    kernel32.LocalFree.argtypes = (ctypes.c_void_p,)
    kernel32.LocalFree(ctypes.cast(memory, ctypes.c_void_p))


def _library(name: str) -> Any:
    """A library of Windows, with functions of our own to declare."""
    if sys.platform == "win32":
        return ctypes.WinDLL(name, use_last_error=True)
    raise OSError(f"there is no {name} here")


def _failed(what: object) -> OSError:
    number = 0
    if sys.platform == "win32":
        number = ctypes.get_last_error()
    return OSError(f"{what}: Windows does not keep it from others (error {number})")
