"""Whether inputs can reach the windows of this session now, and if not, why.

Windows has desktops in a session, and one of them has the keyboard: at the lock screen and while
it asks for consent (UAC), that is one that no program of a user may reach.  ``SendInput`` may then
say that all went well.  A session that nobody looks at has no screen, a service has none either.
"""

import ctypes
import os
from ctypes import wintypes
from typing import Final

from machine_client.desktop.base import DesktopError, DesktopLost
from machine_client.desktop.windows import api

_READ: Final = 0x0001  # DESKTOP_READOBJECTS
_NAME: Final = 2  # UOI_NAME
_THIS_SESSION: Final = 0xFFFFFFFF
_CONNECT_STATE: Final = 8  # WTSConnectState
_ACTIVE: Final = 0  # WTSActive
_QUERY_LIMITED: Final = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION
_TOKEN_QUERY: Final = 0x0008
_INTEGRITY_LEVEL: Final = 25  # TokenIntegrityLevel
_HIGH: Final = 0x3000  # SECURITY_MANDATORY_HIGH_RID
_ACCESS_DENIED: Final = 5  # ERROR_ACCESS_DENIED

SERVICE = (
    "this program runs as a service, which sees no desktop: start it in the session of the user "
    "who is at the screen"
)
DISCONNECTED = (
    "this session is disconnected, and Windows draws no desktop for it: connect to it, or let its "
    "user log on at the screen itself"
)
KEPT_BACK = (
    "the session is locked, or Windows asks for consent (UAC): no program may press anything there"
)
ELEVATED = (
    "the window there runs with higher rights than the machine client, and Windows keeps its inputs"
    " from it"
)


def check() -> None:
    """Raise DesktopLost, with the reason, where nothing can be pressed now."""
    if (reason := why_unavailable()) is not None:
        raise DesktopLost(reason[:1].upper() + reason[1:])


def why_unavailable() -> str | None:
    """Why nothing reaches the desktop now; None where it is there.  Less than a millisecond."""
    if _name_of(api.get_process_window_station()) not in ("WinSta0", None):
        return SERVICE
    if _connect_state() not in (_ACTIVE, None):
        return DISCONNECTED
    desktop = api.open_input_desktop(0, False, _READ)
    if not desktop:
        return KEPT_BACK
    try:
        shown = _name_of(desktop)
    finally:
        api.close_desktop(desktop)
    own = _name_of(api.get_thread_desktop(api.get_current_thread_id()))
    if None not in (shown, own) and shown != own:
        return f"another desktop ({shown}) is shown than that of this program ({own})"
    return None


def check_window_in_front() -> None:
    """Raise DesktopError where the window that has the keyboard takes nothing from us."""
    _check_window(api.get_foreground_window())


def check_window_at(x: int, y: int) -> None:
    """Raise DesktopError where the window at a place takes nothing from us."""
    _check_window(api.window_from_point(wintypes.POINT(x, y)))


def session_id() -> int:
    """The number of this program's session; 0 is that of services."""
    number = wintypes.DWORD()
    api.process_id_to_session_id(os.getpid(), ctypes.byref(number))
    return number.value


def _check_window(window: int | None) -> None:
    # Windows drops silently what comes from below (UIPI): SendInput counts it as sent.
    process = wintypes.DWORD()
    if window and api.get_window_thread_process_id(window, ctypes.byref(process)):
        own = _own_level()
        theirs = _level_of_process(process.value)
        if own is not None and theirs is not None and theirs > own:
            raise DesktopError("window_elevated", ELEVATED[:1].upper() + ELEVATED[1:])


def _own_level() -> int | None:
    return _level(api.get_current_process())


def _level_of_process(process_id: int) -> int | None:
    """That of a process, at least a high one where it is kept from us; None where it has ended."""
    process = api.open_process(_QUERY_LIMITED, False, process_id)
    if not process:
        return _level_of_what_is_kept_back()
    try:
        return _level(process)
    finally:
        api.close_handle(process)


def _level(process: int) -> int | None:
    """A process's integrity level, at least a high one where it is kept from us."""
    token = wintypes.HANDLE()
    if not api.open_process_token(process, _TOKEN_QUERY, ctypes.byref(token)):
        return _level_of_what_is_kept_back()
    try:
        # A SID_AND_ATTRIBUTES, whose SID lies behind it.
        label = (ctypes.c_void_p * 32)()
        size = wintypes.DWORD()
        if not api.get_token_information(
            token, _INTEGRITY_LEVEL, label, ctypes.sizeof(label), ctypes.byref(size)
        ):
            return None
        count = ctypes.cast(
            api.get_sid_sub_authority_count(label[0]), ctypes.POINTER(ctypes.c_ubyte)
        )[0]
        last = ctypes.cast(
            api.get_sid_sub_authority(label[0], count - 1), ctypes.POINTER(wintypes.DWORD)
        )
        return int(last[0])
    finally:
        api.close_handle(token)


def _level_of_what_is_kept_back() -> int | None:
    """What the last call, which failed, says of a process: from its like nothing is kept."""
    return _HIGH if api.last_error() == _ACCESS_DENIED else None


def _connect_state() -> int | None:
    """Whether somebody sees this session; None where that is not told."""
    answer, size = ctypes.c_void_p(), wintypes.DWORD()
    if not api.query_session_information(
        None, _THIS_SESSION, _CONNECT_STATE, ctypes.byref(answer), ctypes.byref(size)
    ):
        return None
    try:
        return int(ctypes.cast(answer, ctypes.POINTER(ctypes.c_int))[0])
    finally:
        api.free_session_information(answer)


def _name_of(handle: int | None) -> str | None:
    text = ctypes.create_unicode_buffer(256)
    size = wintypes.DWORD()
    if not handle or not api.get_user_object_information(
        handle, _NAME, text, ctypes.sizeof(text), ctypes.byref(size)
    ):
        return None
    return text.value
