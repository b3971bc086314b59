"""The far side of a Windows desktop, as a program of its own: ``python witness_program.py``.

A window above all screens logs the messages that it gets, and low-level hooks log every event of
the session, whoever gets it.  Questions come as lines of JSON, and so do the answers; what is asked
is answered once everything that was done before has arrived.

It uses nothing of the code under test, so that it can contradict it.
"""

import ctypes
import json
import queue
import sys
import threading
import time
from collections.abc import Callable
from ctypes import wintypes
from typing import Any

from tests.machine_client.desktop.windows.key_symbols import names_of

_user32: Any = None
_gdi32: Any = None
_kernel32: Any = None
if sys.platform == "win32":
    _user32 = ctypes.WinDLL("user32", use_last_error=True)
    _gdi32 = ctypes.WinDLL("gdi32")
    _kernel32 = ctypes.WinDLL("kernel32")
    _PROCEDURE: Any = ctypes.WINFUNCTYPE(
        ctypes.c_ssize_t, wintypes.HWND, wintypes.UINT, wintypes.WPARAM, wintypes.LPARAM
    )
    _HOOK: Any = ctypes.WINFUNCTYPE(
        ctypes.c_ssize_t, ctypes.c_int, wintypes.WPARAM, wintypes.LPARAM
    )
else:
    _PROCEDURE = _HOOK = ctypes.CFUNCTYPE(None)

WM_CLIPBOARDUPDATE = 0x31D
WM_MOUSEMOVE = 0x200
WM_CHAR = 0x102
BUTTONS = {
    0x201: ("down", "left"),
    0x202: ("up", "left"),
    0x203: ("down", "left"),
    0x204: ("down", "right"),
    0x205: ("up", "right"),
    0x206: ("down", "right"),
    0x207: ("down", "middle"),
    0x208: ("up", "middle"),
    0x209: ("down", "middle"),
}
SIDE_BUTTONS = {0x20B: "down", 0x20C: "up", 0x20D: "down"}
"""Messages that say in their data which button it is."""
SIDES = {1: "back", 2: "forward"}
WHEELS = {0x20A: ("up", "down"), 0x20E: ("right", "left")}
KEYS = {0x100: "down", 0x101: "up", 0x104: "down", 0x105: "up"}
LOGGED = (*BUTTONS, *SIDE_BUTTONS, *WHEELS, *KEYS)
BUTTON_CODES = {0x01: "left", 0x02: "right", 0x04: "middle", 0x05: "back", 0x06: "forward"}
EITHER_SIDE = (0x10, 0x11, 0x12)
"""Shift, Ctrl and Alt whichever side they are on: those have codes of their own."""
NOTCH = 120


class _MouseHook(ctypes.Structure):
    _fields_ = (
        ("place", wintypes.POINT),
        ("data", wintypes.DWORD),
        ("flags", wintypes.DWORD),
        ("time", wintypes.DWORD),
        ("extra", ctypes.c_size_t),
    )


class _KeyHook(ctypes.Structure):
    _fields_ = (
        ("code", wintypes.DWORD),
        ("scan", wintypes.DWORD),
        ("flags", wintypes.DWORD),
        ("time", wintypes.DWORD),
        ("extra", ctypes.c_size_t),
    )


class _WindowClass(ctypes.Structure):
    _fields_ = (
        ("style", wintypes.UINT),
        ("procedure", _PROCEDURE),
        ("class_extra", ctypes.c_int),
        ("window_extra", ctypes.c_int),
        ("instance", wintypes.HINSTANCE),
        ("icon", wintypes.HICON),
        ("cursor", wintypes.HANDLE),
        ("background", wintypes.HBRUSH),
        ("menu", wintypes.LPCWSTR),
        ("name", wintypes.LPCWSTR),
    )


def _declare() -> None:
    handle, word, number = wintypes.HANDLE, wintypes.DWORD, ctypes.c_int
    parameters = (wintypes.HWND, wintypes.UINT, wintypes.WPARAM, wintypes.LPARAM)
    for name, result, arguments in (
        ("DefWindowProcW", ctypes.c_ssize_t, parameters),
        ("SendMessageW", ctypes.c_ssize_t, parameters),
        ("CallNextHookEx", ctypes.c_ssize_t, (handle, number, wintypes.WPARAM, wintypes.LPARAM)),
        ("SetWindowsHookExW", handle, (number, _HOOK, handle, word)),
        ("LoadCursorW", handle, (handle, ctypes.c_void_p)),
        (
            "CreateWindowExW",
            wintypes.HWND,
            (
                *(word, wintypes.LPCWSTR, wintypes.LPCWSTR, word, number, number, number, number),
                *(wintypes.HWND, handle, handle, ctypes.c_void_p),
            ),
        ),
        ("DestroyWindow", wintypes.BOOL, (wintypes.HWND,)),
        ("SetForegroundWindow", wintypes.BOOL, (wintypes.HWND,)),
        ("SetFocus", wintypes.HWND, (wintypes.HWND,)),
        ("GetForegroundWindow", wintypes.HWND, ()),
        ("FillRect", number, (handle, ctypes.c_void_p, handle)),
        ("GetAsyncKeyState", ctypes.c_short, (number,)),
        ("AddClipboardFormatListener", wintypes.BOOL, (wintypes.HWND,)),
        ("OpenClipboard", wintypes.BOOL, (wintypes.HWND,)),
        ("GetClipboardData", handle, (wintypes.UINT,)),
    ):
        function = getattr(_user32, name)
        function.restype, function.argtypes = result, arguments
    _kernel32.GlobalLock.restype, _kernel32.GlobalLock.argtypes = ctypes.c_void_p, (handle,)
    _kernel32.GlobalSize.restype, _kernel32.GlobalSize.argtypes = ctypes.c_size_t, (handle,)
    _kernel32.GlobalUnlock.argtypes = (handle,)
    _gdi32.CreateSolidBrush.restype, _gdi32.CreateSolidBrush.argtypes = handle, (word,)


WS_POPUP_VISIBLE = 0x90000000
WS_EX_TOPMOST = 0x8
EDIT_STYLE = 0x0004 | 0x0040 | 0x1000  # ES_MULTILINE, ES_AUTOVSCROLL, ES_WANTRETURN
EM_LIMITTEXT = 0xC5
WM_GETTEXT, WM_GETTEXTLENGTH, WM_SETTEXT, WM_ERASEBKGND = 0x0D, 0x0E, 0x0C, 0x14


class Witness:
    """The window, the hooks, and what they were told."""

    def __init__(self) -> None:
        _declare()
        self._events: list[dict[str, Any]] = []
        self._messages: list[list[str]] = []
        self._characters = ""
        self._copied: list[str | None] = []
        self._down: set[int] = set()
        self._brushes: dict[int, int] = {}
        self._field: int | None = None
        self._window = 0
        # Kept: Windows calls them for as long as the program runs.
        self._callbacks = (
            _PROCEDURE(self._window_message),
            _HOOK(self._mouse_event),
            _HOOK(self._key_event),
        )
        self._class = _WindowClass(
            procedure=self._callbacks[0],
            name="witness",
            background=6,
            cursor=_user32.LoadCursorW(None, 32512),
        )
        _user32.RegisterClassW(ctypes.byref(self._class))
        left, top, width, height = (_user32.GetSystemMetrics(each) for each in (76, 77, 78, 79))
        self._window = self._make("witness", WS_POPUP_VISIBLE, left, top, width, height)
        self._focus(self._window)
        for kind, callback in ((14, self._callbacks[1]), (13, self._callbacks[2])):
            if not _user32.SetWindowsHookExW(kind, callback, None, 0):
                raise OSError("Windows refuses it")
        if not _user32.AddClipboardFormatListener(self._window):
            raise OSError("Windows refuses it")

    def answer(self, question: list[Any]) -> Any:
        """Do what is asked; the first of it is a method's name."""
        self.settle()
        name, *arguments = question
        answer = getattr(self, f"ask_{name}")(*arguments)
        self.settle()
        return answer

    def settle(self) -> None:
        """Take every message that has come."""
        message = wintypes.MSG()
        while _user32.PeekMessageW(ctypes.byref(message), None, 0, 0, 1):
            _user32.TranslateMessage(ctypes.byref(message))
            _user32.DispatchMessageW(ctypes.byref(message))

    def ask_take(self) -> list[dict[str, Any]]:
        events, self._events = self._events, []
        return events

    def ask_messages(self) -> list[list[str]]:
        """What the window was told since this was last asked, moves aside."""
        messages, self._messages = self._messages, []
        return messages

    def ask_characters(self) -> str:
        """What the window was told in WM_CHAR, in pieces of UTF-16, since this was last asked."""
        characters, self._characters = self._characters, ""
        return characters

    def ask_copied(self) -> list[str | None]:
        """Each text that was put on the clipboard since this was last asked; null for no text."""
        copied, self._copied = self._copied, []
        return copied

    def ask_seen(self) -> list[dict[str, Any]]:
        return self._events

    def ask_held(self) -> list[str]:
        """What the system says is down, once the hooks' events agree, or do not in time."""
        give_up_at = time.monotonic() + 0.5
        while (down := self._codes_down()) != self._down and time.monotonic() < give_up_at:
            time.sleep(0.01)
            self.settle()
        return [BUTTON_CODES.get(code) or min(names_of(code)) for code in sorted(down)]

    def ask_pointer(self) -> tuple[int, int]:
        place = wintypes.POINT()
        _user32.GetCursorPos(ctypes.byref(place))
        return place.x, place.y

    def ask_paint(self, rectangle: list[int], colour: list[int]) -> int:
        red, green, blue = colour
        window = self._make("witness", 0x80000000, *rectangle)  # not shown yet
        self._brushes[window] = _gdi32.CreateSolidBrush(red | green << 8 | blue << 16)
        _user32.ShowWindow(wintypes.HWND(window), 4)  # SW_SHOWNOACTIVATE
        _user32.UpdateWindow(wintypes.HWND(window))
        return window

    def ask_remove(self, window: int) -> None:
        _user32.DestroyWindow(window)
        self._focus(self._window)

    def ask_field(self) -> int:
        window = self._make("EDIT", WS_POPUP_VISIBLE | EDIT_STYLE, 40, 40, 700, 500)
        _user32.SendMessageW(window, EM_LIMITTEXT, 100_000, 0)
        self._field = window
        self._focus(window)
        return window

    def ask_typed(self) -> str:
        assert self._field is not None
        length = _user32.SendMessageW(self._field, WM_GETTEXTLENGTH, 0, 0) + 1
        text = ctypes.create_unicode_buffer(length)
        _user32.SendMessageW(self._field, WM_GETTEXT, length, ctypes.addressof(text))
        return text.value

    def ask_clear(self) -> None:
        assert self._field is not None
        empty = ctypes.create_unicode_buffer("")
        _user32.SendMessageW(self._field, WM_SETTEXT, 0, ctypes.addressof(empty))

    def _make(self, kind: str, style: int, *place: int) -> int:
        window = _user32.CreateWindowExW(
            WS_EX_TOPMOST, kind, None, style, *place, None, None, None, None
        )
        if not window:
            raise OSError("Windows refuses it")
        return int(window)

    def _focus(self, window: int) -> None:
        _user32.SetForegroundWindow(window)
        _user32.SetFocus(window)

    def _codes_down(self) -> set[int]:
        return {
            code
            for code in range(1, 255)
            if code not in EITHER_SIDE and _user32.GetAsyncKeyState(code) & 0x8000
        }

    def _window_message(self, window: int, message: int, word: int, long: int) -> int:
        if message == WM_ERASEBKGND and window in self._brushes:
            rectangle = wintypes.RECT()
            _user32.GetClientRect(wintypes.HWND(window), ctypes.byref(rectangle))
            _user32.FillRect(word, ctypes.byref(rectangle), self._brushes[window])
            return 1
        if window == self._window and message in LOGGED:
            self._messages.append(_message(message, word))
            if message in (0x104, 0x105):
                return 0  # Alt opens no menu here.
        if window == self._window and message == WM_CHAR:
            self._characters += chr(word)
        if window == self._window and message == WM_CLIPBOARDUPDATE:
            self._copied.append(_clipboard_text())
        return int(_user32.DefWindowProcW(window, message, word, long))

    def _mouse_event(self, code: int, message: int, place: int) -> int:
        event = _MouseHook.from_address(place)
        about = {"x": event.place.x, "y": event.place.y, "at": event.time / 1000}
        if message == WM_MOUSEMOVE:
            # Wine leaves the X server's pointer where it is while there is a hook, and asks for
            # that one some time later.
            _user32.SetCursorPos(event.place.x, event.place.y)
            self._events.append({"action": "move", "names": [], **about})
        elif message in BUTTONS or message in SIDE_BUTTONS:
            action, button = _button(message, event.data)
            self._note({value: key for key, value in BUTTON_CODES.items()}[button], action)
            self._events.append({"action": action, "names": [button], **about})
        elif message in WHEELS:
            notches = ctypes.c_short(event.data >> 16).value // NOTCH
            name = WHEELS[message][notches < 0]
            self._events += [{"action": "wheel", "names": [name], **about}] * abs(notches)
        return int(_user32.CallNextHookEx(None, code, message, place))

    def _key_event(self, code: int, message: int, place: int) -> int:
        event = _KeyHook.from_address(place)
        x, y = self.ask_pointer()
        names = sorted(names_of(event.code, event.scan, extended=bool(event.flags & 1)))
        action = KEYS[message]
        if event.code != 0xE7:
            self._note(event.code, action)
        about = {"x": x, "y": y, "at": event.time / 1000}
        self._events.append({"action": action, "names": names, **about})
        return int(_user32.CallNextHookEx(None, code, message, place))

    def _note(self, code: int, action: str) -> None:
        (self._down.add if action == "down" else self._down.discard)(code)


def _clipboard_text() -> str | None:
    give_up_at = time.monotonic() + 5
    while not _user32.OpenClipboard(None):
        if time.monotonic() > give_up_at:
            return None
        time.sleep(0.005)
    try:
        if not (data := _user32.GetClipboardData(13)):  # CF_UNICODETEXT
            return None
        content = ctypes.string_at(_kernel32.GlobalLock(data), _kernel32.GlobalSize(data))
        _kernel32.GlobalUnlock(data)
        return content.decode("utf-16-le").partition("\0")[0]
    finally:
        _user32.CloseClipboard()


def _button(message: int, word: int) -> tuple[str, str]:
    if message in SIDE_BUTTONS:
        return SIDE_BUTTONS[message], SIDES[word >> 16 & 0xFFFF]
    return BUTTONS[message]


def _message(message: int, word: int) -> list[str]:
    if message in BUTTONS or message in SIDE_BUTTONS:
        return list(_button(message, word))
    if message in WHEELS:
        notches = ctypes.c_short(word >> 16).value // NOTCH
        return ["wheel", WHEELS[message][notches < 0]]
    return [KEYS[message], f"key {word}"]


def main() -> None:
    """Answer until the questions end."""
    questions: queue.Queue[str | None] = queue.Queue()
    witness = Witness()
    witness.settle()
    _say("ready")
    threading.Thread(target=_listen, args=(questions.put,), daemon=True).start()
    while True:
        # A message wakes it, and so does the clock, every so often: questions are no messages.
        _user32.MsgWaitForMultipleObjects(0, None, False, 2, 0x1CFF)
        witness.settle()
        try:
            question = questions.get_nowait()
        except queue.Empty:
            continue
        if question is None:
            return
        _say(witness.answer(json.loads(question)))


def _listen(put: Callable[[str | None], None]) -> None:
    for line in sys.stdin:
        put(line)
    put(None)


def _say(what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
