"""What is held down: by us, by others, and by a machine client that was killed.

On Windows a key stays down after the program that pressed it has ended, and nothing says who
pressed it.  So each client records what it holds in a file of the user's, before each press, and
the next one to start releases what the records of dead clients list.
"""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from machine_client.desktop.windows.keys import WindowsKey
from machine_client.desktop.windows.sending import ButtonEvent, Event, KeyEvent, not_taken
from machine_client.system.file_lock import try_lock
from machine_client.system.private_files import make_private_directory
from schemas.inputs.bodies import BUTTONS, Button
from schemas.link.messages import Released
from schemas.programs.failpoints import Failpoint, reached

_CLIENTS: Final = 8
"""That can be in one session at once, each with a record of its own."""
_BYTES: Final = 4096
_PATIENCE_SECONDS: Final = 0.5
"""For a press to be seen.  Windows says it at once; Wine remembers for 50 ms that it was up."""
_PAUSE_SECONDS: Final = 0.001


class Sends(Protocol):
    """See `machine_client.desktop.windows.sending.Sender`."""

    def send(self, *events: Event) -> None: ...


class Record:
    """This client's record; ``buttons`` and ``keys`` are those in the records of the dead.

    ``session`` is what another logon, or another start of Windows, differs in: nothing of an
    earlier one is down any more.  Where no record can be kept, nothing is found and nothing
    written: the rest works without it.
    """

    def __init__(self, directory: Path, session: str) -> None:
        self.buttons: set[str] = set()
        self.keys: set[WindowsKey] = set()
        self._session = session
        self._file: int | None = None
        self._written: str | None = None
        with contextlib.suppress(OSError):
            make_private_directory(directory)
            for number in range(_CLIENTS):
                self._take(directory / f"held-{number}")

    def write(self, buttons: list[Button], keys: list[WindowsKey]) -> None:
        """Put on record what is held from the next event on."""
        held = (*buttons, *(f"{key.code}/{key.scan}/{key.extended:d}" for key in keys))
        text = f"{self._session} {','.join(held)}\n"
        if self._file is not None and text != self._written:
            _write(self._file, text)
            self._written = text

    def close(self, *, keeps: bool = False) -> None:
        """Leave nothing behind, or what is written for whoever comes next; safe twice."""
        if self._file is not None:
            if not keeps:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._file, 0)
            os.close(self._file)
            self._file = None

    def _take(self, path: Path) -> None:
        """Learn what a record of nobody's says; the first of those becomes ours."""
        if self._file is not None and not path.exists():
            return
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if not try_lock(file):
            os.close(file)  # of a client that lives
            return
        os.lseek(file, 0, os.SEEK_SET)
        # What a longer one has left behind it is not of the last one.
        line = os.read(file, _BYTES).decode(errors="replace").partition("\n")[0]
        session, _, held = line.partition(" ")
        if session == self._session:
            for each in held.split(","):
                self._note(each)
        if self._file is None:
            # Emptied with the first write: until then, a kill leaves it to the next one.
            self._file = file
        else:
            os.ftruncate(file, 0)
            os.close(file)

    def _note(self, held: str) -> None:
        if held in BUTTONS:
            self.buttons.add(held)
            return
        with contextlib.suppress(ValueError):
            code, scan, extended = map(int, held.split("/"))
            self.keys.add(WindowsKey(code, scan, bool(extended)))


class Holding:
    """The buttons and keys that we hold, in the order in which they went down.

    ``is_down`` says of a virtual-key code whether it is down, whoever holds it, and
    ``button_code`` which code a button has.
    """

    def __init__(
        self,
        sender: Sends,
        record: Record,
        is_down: Callable[[int], bool],
        button_code: Callable[[Button], int],
    ) -> None:
        self.buttons: list[Button] = []
        self.keys: list[WindowsKey] = []
        self._sender = sender
        self._record = record
        self._is_down = is_down
        self._button_code = button_code

    def button_of_others(self, button: Button) -> bool:
        """Whether somebody else holds a button."""
        return button not in self.buttons and self._is_down(self._button_code(button))

    def key_of_others(self, key: WindowsKey) -> bool:
        """Whether somebody else holds a key."""
        return all(key.code != own.code for own in self.keys) and self._is_down(key.code)

    def press_button(self, button: Button) -> None:
        """Press a button that is up."""
        self.buttons.append(button)
        self._note()
        self._sender.send(ButtonEvent(button, True))
        reached(Failpoint.AFTER_PRESS)
        self._see(self._button_code(button))

    def release_button(self, button: Button) -> None:
        """Release a button if we hold it."""
        if button in self.buttons:
            self._sender.send(ButtonEvent(button, False))
            self.buttons.remove(button)
            self._note()

    def press_key(self, key: WindowsKey) -> None:
        """Press a key that we do not hold."""
        self.keys.append(key)
        self._note()
        self._sender.send(KeyEvent(key, True))
        reached(Failpoint.AFTER_PRESS)
        self._see(key.code)

    def release_key(self, key: WindowsKey) -> None:
        """Release a key if we hold it."""
        if key in self.keys:
            self._sender.send(KeyEvent(key, False))
            self.keys.remove(key)
            self._note()

    def release_left_behind(self) -> Released | None:
        """Release what a client that died holds, as far as it is still down."""
        buttons: list[Button] = [
            button
            for button in BUTTONS
            if button in self._record.buttons and self._is_down(self._button_code(button))
        ]
        keys = sorted(
            (key for key in self._record.keys if self._is_down(key.code)), key=lambda key: key.code
        )
        for button in buttons:
            self._sender.send(ButtonEvent(button, False))
        for key in keys:
            self._sender.send(KeyEvent(key, False))
        self._note()
        return Released(buttons=buttons, keys=len(keys)) if buttons or keys else None

    def close(self) -> None:
        """Let go of the record, which stays where something could not be released."""
        self._record.close(keeps=bool(self.buttons or self.keys))

    def _note(self) -> None:
        with contextlib.suppress(OSError):
            self._record.write(self.buttons, self.keys)

    def _see(self, code: int) -> None:
        # SendInput has counted it; whether it is there is another question.
        give_up_at = time.monotonic() + _PATIENCE_SECONDS
        while not self._is_down(code):
            if time.monotonic() > give_up_at:
                raise not_taken()
            time.sleep(_PAUSE_SECONDS)


def _write(file: int, text: str) -> None:
    os.lseek(file, 0, os.SEEK_SET)
    os.write(file, text.encode().ljust(512, b"\n")[:_BYTES])
