"""The calls of Windows that this room needs, declared: a handle is wider than ctypes guesses.

Structures and functions have the names by which Microsoft documents them.  Where there is no
Windows, every call raises OSError, so that what knows none of them can be tested anywhere.
"""

import ctypes
import sys
from collections.abc import Callable
from ctypes import wintypes
from typing import Any, Final, NoReturn

from machine_client.system.libraries import library

_HANDLE, _DWORD, _BOOL, _INT = wintypes.HANDLE, wintypes.DWORD, wintypes.BOOL, ctypes.c_int
_UINT, _SHORT, _TEXT, _POINTER = wintypes.UINT, ctypes.c_short, wintypes.LPCWSTR, ctypes.c_void_p
_WINDOW: Final = wintypes.HWND


class CursorInfo(ctypes.Structure):
    """CURSORINFO."""

    _fields_ = (
        ("size", _DWORD),
        ("flags", _DWORD),
        ("cursor", _HANDLE),
        ("place", wintypes.POINT),
    )


class IconInfo(ctypes.Structure):
    """ICONINFO."""

    _fields_ = (
        ("is_icon", _BOOL),
        ("hotspot_x", _DWORD),
        ("hotspot_y", _DWORD),
        ("mask", _HANDLE),
        ("colour", _HANDLE),
    )


class Bitmap(ctypes.Structure):
    """BITMAP."""

    _fields_ = (
        ("type", wintypes.LONG),
        ("width", wintypes.LONG),
        ("height", wintypes.LONG),
        ("row_bytes", wintypes.LONG),
        ("planes", wintypes.WORD),
        ("bits", wintypes.WORD),
        ("pixels", _POINTER),
    )


class BitmapInfo(ctypes.Structure):
    """BITMAPINFOHEADER, which is all of a BITMAPINFO of 32 bits."""

    _fields_ = (
        ("size", _DWORD),
        ("width", wintypes.LONG),
        ("height", wintypes.LONG),
        ("planes", wintypes.WORD),
        ("bits", wintypes.WORD),
        ("compression", _DWORD),
        ("image_bytes", _DWORD),
        ("across", wintypes.LONG),
        ("down", wintypes.LONG),
        ("used", _DWORD),
        ("important", _DWORD),
    )


def _declared(file: str, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    if sys.platform == "win32":
        function = getattr(library(file), name)
        function.restype, function.argtypes = result, arguments
        return function

    def absent(*_: Any) -> NoReturn:
        raise OSError(f"there is no {name} here: this is no Windows")

    return absent


def last_error() -> int:
    """Why the last call failed, as a number of Windows."""
    if sys.platform == "win32":
        return ctypes.get_last_error()
    return 0


SM_SWAPBUTTON: Final = 23
SM_XVIRTUALSCREEN: Final = 76
SM_YVIRTUALSCREEN: Final = 77
SM_CXVIRTUALSCREEN: Final = 78
SM_CYVIRTUALSCREEN: Final = 79

_user32 = "user32"
get_cursor_pos = _declared(_user32, "GetCursorPos", _BOOL, _POINTER)
set_cursor_pos = _declared(_user32, "SetCursorPos", _BOOL, _INT, _INT)
get_system_metrics = _declared(_user32, "GetSystemMetrics", _INT, _INT)
monitor_from_point = _declared(_user32, "MonitorFromPoint", _HANDLE, wintypes.POINT, _DWORD)
get_async_key_state = _declared(_user32, "GetAsyncKeyState", _SHORT, _INT)
get_key_state = _declared(_user32, "GetKeyState", _SHORT, _INT)
get_foreground_window = _declared(_user32, "GetForegroundWindow", _WINDOW)
window_from_point = _declared(_user32, "WindowFromPoint", _WINDOW, wintypes.POINT)
get_window_thread_process_id = _declared(
    _user32, "GetWindowThreadProcessId", _DWORD, _WINDOW, _POINTER
)

get_keyboard_layout = _declared(_user32, "GetKeyboardLayout", _HANDLE, _DWORD)
vk_key_scan = _declared(_user32, "VkKeyScanExW", _SHORT, wintypes.WCHAR, _HANDLE)
map_virtual_key = _declared(_user32, "MapVirtualKeyExW", _UINT, _UINT, _UINT, _HANDLE)

open_input_desktop = _declared(_user32, "OpenInputDesktop", _HANDLE, _DWORD, _BOOL, _DWORD)
close_desktop = _declared(_user32, "CloseDesktop", _BOOL, _HANDLE)
get_thread_desktop = _declared(_user32, "GetThreadDesktop", _HANDLE, _DWORD)
get_process_window_station = _declared(_user32, "GetProcessWindowStation", _HANDLE)
get_user_object_information = _declared(
    _user32, "GetUserObjectInformationW", _BOOL, _HANDLE, _INT, _POINTER, _DWORD, _POINTER
)

open_clipboard = _declared(_user32, "OpenClipboard", _BOOL, _WINDOW)
close_clipboard = _declared(_user32, "CloseClipboard", _BOOL)
empty_clipboard = _declared(_user32, "EmptyClipboard", _BOOL)
set_clipboard_data = _declared(_user32, "SetClipboardData", _HANDLE, _UINT, _HANDLE)
get_clipboard_data = _declared(_user32, "GetClipboardData", _HANDLE, _UINT)
count_clipboard_formats = _declared(_user32, "CountClipboardFormats", _INT)
create_window = _declared(
    *(_user32, "CreateWindowExW", _WINDOW, _DWORD, _TEXT, _TEXT, _DWORD, _INT, _INT, _INT, _INT),
    *(_WINDOW, _HANDLE, _HANDLE, _POINTER),
)
destroy_window = _declared(_user32, "DestroyWindow", _BOOL, _WINDOW)

get_cursor_info = _declared(_user32, "GetCursorInfo", _BOOL, _POINTER)
load_cursor = _declared(_user32, "LoadCursorW", _HANDLE, _HANDLE, _POINTER)
get_icon_info = _declared(_user32, "GetIconInfo", _BOOL, _HANDLE, _POINTER)
draw_icon = _declared(
    *(_user32, "DrawIconEx", _BOOL, _HANDLE, _INT, _INT, _HANDLE, _INT, _INT, _UINT, _HANDLE),
    _UINT,
)

_gdi32 = "gdi32"
get_object = _declared(_gdi32, "GetObjectW", _INT, _HANDLE, _INT, _POINTER)
create_compatible_dc = _declared(_gdi32, "CreateCompatibleDC", _HANDLE, _HANDLE)
create_dib_section = _declared(
    _gdi32, "CreateDIBSection", _HANDLE, _HANDLE, _POINTER, _UINT, _POINTER, _HANDLE, _DWORD
)
select_object = _declared(_gdi32, "SelectObject", _HANDLE, _HANDLE, _HANDLE)
delete_object = _declared(_gdi32, "DeleteObject", _BOOL, _HANDLE)
delete_dc = _declared(_gdi32, "DeleteDC", _BOOL, _HANDLE)
gdi_flush = _declared(_gdi32, "GdiFlush", _BOOL)

_kernel32 = "kernel32"
get_current_thread_id = _declared(_kernel32, "GetCurrentThreadId", _DWORD)
get_current_process = _declared(_kernel32, "GetCurrentProcess", _HANDLE)
process_id_to_session_id = _declared(_kernel32, "ProcessIdToSessionId", _BOOL, _DWORD, _POINTER)
open_process = _declared(_kernel32, "OpenProcess", _HANDLE, _DWORD, _BOOL, _DWORD)
close_handle = _declared(_kernel32, "CloseHandle", _BOOL, _HANDLE)
global_alloc = _declared(_kernel32, "GlobalAlloc", _HANDLE, _UINT, ctypes.c_size_t)
global_lock = _declared(_kernel32, "GlobalLock", _POINTER, _HANDLE)
global_unlock = _declared(_kernel32, "GlobalUnlock", _BOOL, _HANDLE)
global_free = _declared(_kernel32, "GlobalFree", _HANDLE, _HANDLE)
global_size = _declared(_kernel32, "GlobalSize", ctypes.c_size_t, _HANDLE)

_advapi32 = "advapi32"
open_process_token = _declared(_advapi32, "OpenProcessToken", _BOOL, _HANDLE, _DWORD, _POINTER)
get_token_information = _declared(
    _advapi32, "GetTokenInformation", _BOOL, _HANDLE, _INT, _POINTER, _DWORD, _POINTER
)
get_sid_sub_authority_count = _declared(_advapi32, "GetSidSubAuthorityCount", _POINTER, _POINTER)
get_sid_sub_authority = _declared(_advapi32, "GetSidSubAuthority", _POINTER, _POINTER, _DWORD)

_wtsapi32 = "wtsapi32"
query_session_information = _declared(
    _wtsapi32, "WTSQuerySessionInformationW", _BOOL, _HANDLE, _DWORD, _INT, _POINTER, _POINTER
)
free_session_information = _declared(_wtsapi32, "WTSFreeMemory", None, _POINTER)
