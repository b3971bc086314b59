"""What a client that is killed leaves pressed on a compositor, written down for the next one.

A compositor releases the keys of a keyboard whose client goes, but many leave a pointer's buttons
pressed, and no client can ask which are.  So they are on record beside the compositor's socket, in
memory like that: the record ends with the session, and a kill leaves it as it is.
"""

import contextlib
import fcntl
import os
import threading
from pathlib import Path
from typing import Final

from schemas.inputs.bodies import BUTTONS, Button

_CLIENTS: Final = 8
"""That can be on one compositor at once, each with a record of its own."""
_BYTES: Final = 128


class LeftBehind:
    """This client's record, and in ``found`` what was in those of clients that have died.

    ``compositor`` is what another one at the same place differs in.

    Where none can be kept, nothing is found and nothing written: the rest works without it.
    """

    def __init__(self, socket_path: str) -> None:
        self.found: frozenset[Button] = frozenset()
        self.compositor = _identity(socket_path)
        self._file: int | None = None
        self._written: str | None = None
        self._lock = threading.Lock()
        found: set[str] = set()
        with contextlib.suppress(OSError):
            for number in range(_CLIENTS):
                found |= self._take(f"{socket_path}.farhand-{number}")
        self.found = frozenset(button for button in BUTTONS if button in found)

    def write(self, held: list[Button]) -> None:
        """Put on record what is held from the next request on; quick where it is that already."""
        text = ",".join(held)
        with self._lock:
            if self._file is not None and text != self._written:
                line = f"{self.compositor} {text}\n".ljust(_BYTES, "\n")
                os.pwrite(self._file, line.encode()[:_BYTES], 0)
                self._written = text

    def close(self, *, is_released: bool) -> None:
        """Empty it where all that it tells is released, else leave it to the next one; safe twice.

        For any thread.
        """
        with self._lock:
            if self._file is None:
                return
            if is_released:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._file, 0)
            os.close(self._file)
            self._file = None

    def _take(self, path: str) -> set[str]:
        """What a record of nobody's says; the first of those becomes ours."""
        if self._file is not None and not Path(path).exists():
            return set()
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)  # of a client that lives
            return set()
        compositor, _, held = os.pread(file, _BYTES, 0).decode(errors="replace").partition(" ")
        if self._file is None:
            # Emptied with the first write: until then, a kill leaves it to the next one.
            self._file = file
        else:
            os.ftruncate(file, 0)
            os.close(file)
        return set(held.strip().split(",")) if compositor == self.compositor else set()


def _identity(socket_path: str) -> str:
    """What another compositor at the same place differs in."""
    try:
        status = Path(socket_path).stat()
    except OSError:
        return "?"
    return f"{status.st_ino}:{status.st_ctime_ns}"
