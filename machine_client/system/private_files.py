"""Files and directories that their user alone may look into, as each system says that."""

import ctypes
import errno
import os
import shlex
import stat
import sys
from contextlib import suppress
from ctypes import wintypes
from pathlib import Path
from typing import Any, Final

from machine_client.system.access_lists import TRUSTED, name_of, readers
from machine_client.system.libraries import library

_DACL: Final = 0x00000004  # DACL_SECURITY_INFORMATION
_PROTECTED: Final = 0x80000000  # PROTECTED_DACL_SECURITY_INFORMATION
_TOKEN_QUERY: Final = 0x0008
_TOKEN_USER: Final = 1
_REVISION: Final = 1  # SDDL_REVISION_1


def make_private_directory(directory: Path) -> None:
    """Make a directory, and those above it, for their user alone, where they are not there.

    One that is there already stays as it is.  Windows knows no modes: what is in ours is for its
    user and the system, and inherits nothing from above.  Raises OSError.
    """
    if sys.platform == "win32":
        if not directory.exists():
            directory.mkdir(parents=True, exist_ok=True)
            _keep_to_user(directory)
    else:
        # One after another: the modes of those above would be whatever the umask leaves.
        for each in (*reversed(directory.parents), directory):
            with suppress(FileExistsError):
                each.mkdir(mode=0o700)
    if not directory.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(directory))


def keep_others_from_writing(directory: Path) -> bool:
    """Take the right to write into a directory of ours from others; return whether they had it.

    Another user's directory is left as it is, and so is one with the sticky bit, such as /tmp,
    where nobody can replace another's files.  Raises OSError.
    """
    if sys.platform == "win32":
        return False  # What we have made there inherits nothing.
    found = directory.stat()
    is_open = bool(found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    if not is_open or found.st_mode & stat.S_ISVTX or found.st_uid != os.geteuid():
        return False
    directory.chmod(stat.S_IMODE(found.st_mode) & ~(stat.S_IWGRP | stat.S_IWOTH))
    return True


def make_private_file(file: Path) -> None:
    """Make an empty file that its user alone may read, where there is none.  Raises OSError.

    One that is there already stays as it is.
    """
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
    if sys.platform == "win32":
        _keep_to_user(file)


def who_else_reads(file: Path) -> str | None:
    """Who may read a file beside its user, with a command that ends it; None: nobody.

    Administrators and the system do not count: nothing is kept from them.  Raises OSError.
    """
    if sys.platform != "win32":
        if not file.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
            return None
        return f"others can read {file}: chmod 600 {shlex.quote(str(file))}"
    user = _user_sid()
    others = [sid for sid in readers(_descriptor(file)) if sid not in TRUSTED | {user}]
    if not others:
        return None
    names = ", ".join(map(name_of, others))
    # By its number, which shells and languages leave as it is.
    return f'others can read {file} ({names}): icacls "{file}" /inheritance:r /grant:r *{user}:F'


def _descriptor(path: Path) -> bytes:
    """A file's list of access, as Windows keeps it."""
    advapi32: Any = library("advapi32")
    get = advapi32.GetFileSecurityW
    get.argtypes = (
        *(wintypes.LPCWSTR, wintypes.DWORD, ctypes.c_void_p, wintypes.DWORD, ctypes.c_void_p),
    )
    size = wintypes.DWORD()
    get(str(path), _DACL, None, 0, ctypes.byref(size))
    content = ctypes.create_string_buffer(max(1, size.value))
    if not get(str(path), _DACL, content, len(content), ctypes.byref(size)):
        raise OSError(f"{path}: Windows does not say who may read it (error {_error_number()})")
    return content.raw


def _keep_to_user(path: Path) -> None:
    advapi32: Any = library("advapi32")
    kernel32: Any = library("kernel32")
    # Full access, for what will be in a directory as well (OICI), to the user and the system (SY).
    heirs = "OICI" if path.is_dir() else ""
    allowed = f"D:P(A;{heirs};FA;;;{_user_sid()})(A;{heirs};FA;;;SY)"
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


def _user_sid() -> str:
    """The user of this process, as security descriptors name one."""
    advapi32: Any = library("advapi32")
    kernel32: Any = library("kernel32")
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


def _failed(what: object) -> OSError:
    return OSError(f"{what}: Windows does not keep it from others (error {_error_number()})")


def _error_number() -> int:
    if sys.platform == "win32":
        return ctypes.get_last_error()
    return 0
