"""Windows as a test wants it: calls that answer, and a stream of inputs that only remembers."""

import ctypes
from collections.abc import Callable
from ctypes import wintypes
from typing import Any

import pytest

from machine_client.desktop.windows import api
from machine_client.desktop.windows.keys import NAMED_KEYS, SHIFT, WindowsKey
from machine_client.desktop.windows.layout import Stroke
from machine_client.desktop.windows.sending import ButtonEvent, Event, KeyEvent
from schemas.inputs.bodies import Button

BUTTON_CODES: dict[Button, int] = {"left": 1, "right": 2, "middle": 4, "back": 5, "forward": 6}
HANDLES = {"station": 1, "own": 2, "shown": 3}


class FakeSession:
    """``names`` are those of the window station, our desktop and the one that is shown.

    ``shown`` is whether that one may be opened, ``state`` whether somebody looks at the session,
    ``levels`` the integrity of each process, 0 being ours, ``window`` whose window is in front.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.names: dict[int, str] = {1: "WinSta0", 2: "Default", 3: "Default"}
        self.shown = True
        self.state: int | None = 0
        self.levels = {0: 0x2000}
        self.window = 0
        self.pointer = (500, 300)
        self.pointer_moves = self.pointer_can_be_put = self.is_on_a_screen = True
        self.metrics = {76: 0, 77: 0, 78: 1280, 79: 800}
        self._kept: list[Any] = []
        for name, call in self._calls().items():
            patch.setattr(api, name, call)

    def _calls(self) -> dict[str, Callable[..., Any]]:
        return {
            "get_process_window_station": lambda: HANDLES["station"],
            "get_thread_desktop": lambda _: HANDLES["own"],
            "get_current_thread_id": lambda: 7,
            "open_input_desktop": lambda *_: HANDLES["shown"] if self.shown else None,
            "close_desktop": lambda _: True,
            "get_user_object_information": self._name,
            "query_session_information": self._state,
            "free_session_information": lambda _: None,
            "get_foreground_window": lambda: self.window or None,
            "window_from_point": lambda _: self.window or None,
            "get_window_thread_process_id": self._owner,
            "get_current_process": lambda: 0,
            "open_process": lambda _rights, _inherits, process: process,
            "open_process_token": self._token,
            "get_token_information": self._label,
            "get_sid_sub_authority_count": lambda _: ctypes.addressof(self._one),
            "get_sid_sub_authority": lambda *_: ctypes.addressof(self._level),
            "close_handle": lambda _: True,
            "get_cursor_pos": self._pointer,
            "set_cursor_pos": self._put,
            "monitor_from_point": lambda *_: self.is_on_a_screen,
            "get_system_metrics": lambda number: self.metrics.get(number, 0),
            "last_error": lambda: 5,
        }

    _one = ctypes.c_ubyte(1)

    def _name(self, handle: int, _what: int, text: Any, *_: Any) -> bool:
        text.value = self.names[handle]
        return True

    def _state(self, _server: Any, _session: Any, _what: int, answer: Any, _size: Any) -> bool:
        if self.state is None:
            return False
        number = ctypes.c_int(self.state)
        self._kept.append(number)
        answer._obj.value = ctypes.addressof(number)
        return True

    def _owner(self, window: int, process: Any) -> int:
        if process is not None:
            process._obj.value = window
        return 1

    def _token(self, process: int, _rights: int, token: Any) -> bool:
        token._obj.value = process + 1
        return process in self.levels

    def _label(self, token: Any, *_: Any) -> bool:
        self._level = wintypes.DWORD(self.levels[token.value - 1])
        return True

    def _pointer(self, place: Any) -> bool:
        place._obj.x, place._obj.y = self.pointer
        return True

    def _put(self, x: int, y: int) -> bool:
        if self.pointer_moves and self.pointer_can_be_put:
            self.pointer = (x, y)
        return True


class FakeStream:
    """Takes events as Windows does: what goes down is down until it goes up."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.down: set[int] = set()
        self.is_deaf = False

    def send(self, *events: Event) -> None:
        self.events += events
        for event in events if not self.is_deaf else ():
            if isinstance(event, KeyEvent | ButtonEvent):
                code = event.key.code if isinstance(event, KeyEvent) else BUTTON_CODES[event.button]
                (self.down.add if event.down else self.down.discard)(code)

    def is_down(self, code: int) -> bool:
        return code in self.down

    def take(self) -> list[Event]:
        events, self.events = self.events, []
        return events


def us_stroke(character: str) -> Stroke | None:
    """Some keys of a US layout."""
    if character.isascii() and character.isalnum():
        key = WindowsKey(ord(character.upper()), 0x10 + ord(character.lower()) % 32)
        return Stroke(key, (SHIFT,) if character.isupper() else ())
    if character in "=+":
        return Stroke(WindowsKey(0xBB, 0x0D), (SHIFT,) if character == "+" else ())
    return None


def told(events: list[Event]) -> list[str]:
    """Events in words: ``+`` is down, ``-`` is up; a piece of a character is itself."""
    names = {key: name for name, key in NAMED_KEYS.items() if name != "altgr"}
    words = []
    for event in events:
        if isinstance(event, KeyEvent):
            name = names.get(event.key) or chr(event.key.code).lower()
        elif isinstance(event, ButtonEvent):
            name = event.button
        else:
            name = chr(getattr(event, "unit", 0))
        words.append(("+" if getattr(event, "down", True) else "-") + name)
    return words
