"""What a session remembers: each of its steps, on disk before it is sent.

The file has a line of JSON for the session, one for each attempt of a step before that is sent, one
for how it ended, one for each decision, and one at the session's end.
"""

import hashlib
import json
import os
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from farhand.errors import (
    FarhandError,
    InvalidRequest,
    Problem,
    SessionChanged,
    SessionError,
    SessionFinished,
    SessionInUse,
    SessionTooOld,
)

KEYS_LIVE_SECONDS: Final = 24 * 3600.0
"""So long servers remember keys, unless ``idempotency_key_lifetime`` is set there."""

MAX_FILE_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True)
class Step:
    """One try of the session's ``number``-th input, which is known not to have been done before."""

    number: int
    attempt: int
    fingerprint: str
    at: float
    """When it was begun, in seconds since 1970."""
    ended: str | None = None
    """``done``, ``nothing`` (it did not happen and never will) or ``other``; None while open."""


@dataclass
class SessionFile:
    """An open session: whoever has it is alone in it."""

    name: str
    path: Path
    lifetime: float = KEYS_LIVE_SECONDS
    _descriptor: int = -1
    _steps: list[Step] = field(default_factory=list)
    """The last try of each, in order."""
    _next: int = 0
    _decisions: list[Any] = field(default_factory=list)
    _next_decision: int = 0
    _is_finished: bool = False

    def open(self) -> None:
        """Read what was done so far.  Raises a SessionError."""
        try:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | _BINARY, 0o600)
        except OSError as error:
            raise SessionError(f"cannot open {self.path}: {error.strerror}") from None
        try:
            _lock(self._descriptor, self.path)
            self._read()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let others have it; what is written stays."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def finish(self) -> None:
        """Say that all is done: the session is not opened again.

        Raises SessionChanged where it was left before what it did when it ran before.
        """
        if self._next < len(self._steps):
            raise SessionChanged(
                f"the session {self.name} ended after {self._next} inputs, and has done "
                f"{len(self._steps)} before: it is not finished"
            )
        self._write({"finished": time.time()})

    def step(self, method: str, path: str, body: Any) -> Step:
        """The next input's step, on disk.  Raises a SessionError where it is not what it was."""
        self._check_is_open()
        fingerprint = fingerprint_of(method, path, body)
        number, self._next = self._next, self._next + 1
        if number == len(self._steps):
            return self._begin(Step(number, 0, fingerprint, time.time()))
        known = self._steps[number]
        if known.ended == "nothing":
            return self._begin(Step(number, known.attempt + 1, fingerprint, time.time()))
        if known.fingerprint != fingerprint:
            raise SessionChanged(
                f"input {number + 1} of the session {self.name} is another than when it ran "
                "before: use a new name for other work, or the program that began it"
            )
        if time.time() - known.at > self.lifetime:
            raise SessionTooOld(
                f"input {number + 1} of the session {self.name} was begun more than "
                f"{self.lifetime / 3600:g} h ago: the server may have forgotten its key, so it is "
                "not sent again; look at the machine, and use a new name for what is left"
            )
        return known

    def again(self, step: Step) -> Step:
        """Another try of a step that was not done, and never will be."""
        return self._begin(Step(step.number, step.attempt + 1, step.fingerprint, time.time()))

    def decisions(self) -> list[Any]:
        """The next decision as it was made before, as the only element; none where it is new."""
        place = self._next_decision
        return self._decisions[place : place + 1]

    def decided(self, value: Any) -> Any:
        """Keep a decision before anything is done about it.  Raises SessionError."""
        self._check_is_open()
        if self._next_decision == len(self._decisions):
            try:
                # As it will be read again: with lists in the place of tuples.
                value = json.loads(json.dumps(value, allow_nan=False))
            except (TypeError, ValueError):
                raise SessionError("what is decided must be JSON: numbers, texts, lists") from None
            self._write({"decided": value})
            self._decisions.append(value)
        self._next_decision += 1
        return value

    def _check_is_open(self) -> None:
        if self._descriptor < 0:
            raise SessionError(f"the session {self.name} is not open: use it in a with statement")

    def ended(self, step: Step, error: FarhandError | None) -> None:
        """Write down how a step ended.  Without a final answer it stays open."""
        end = _end_of(error)
        if end not in (None, step.ended):
            self._write({"step": step.number, "attempt": step.attempt, "ended": end})
            self._steps[step.number] = replace(step, ended=end)

    def key_of(self, step: Step) -> str:
        """The same for the same try of the same step of a session of this name, for ever.

        The input is not in it: so the server refuses another input at this place, even if the
        file is lost.
        """
        seed = f"{self.name}\0{step.number}\0{step.attempt}".encode()
        return f"session-{hashlib.sha256(seed).hexdigest()[:48]}"

    def _begin(self, step: Step) -> Step:
        self._write(
            {
                "step": step.number,
                "attempt": step.attempt,
                "fingerprint": step.fingerprint,
                "at": step.at,
            }
        )
        self._steps[step.number :] = [step]
        return step

    def _write(self, line: dict[str, Any]) -> None:
        """Put a line on the disk: what is not there is not sent."""
        content = json.dumps(line).encode() + b"\n"
        try:
            while content:
                content = content[os.write(self._descriptor, content) :]
            os.fsync(self._descriptor)
        except OSError as error:
            raise SessionError(f"cannot write {self.path}: {error.strerror}") from None

    def _read(self) -> None:
        size = os.fstat(self._descriptor).st_size
        if size > MAX_FILE_BYTES:
            raise SessionError(f"{self.path} is too large for a session's file")
        content = b""
        while piece := os.read(self._descriptor, 1024 * 1024):
            content += piece
        lines = content.splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):
            # What was killed while it wrote had not been sent.
            content = content[: -len(lines.pop())]
            os.ftruncate(self._descriptor, len(content))
        os.lseek(self._descriptor, 0, os.SEEK_END)
        if not lines:
            self._write({"session": self.name, "version": 1})
            return
        try:
            self._take(*map(json.loads, lines))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            raise SessionError(f"{self.path} is no session's file") from None

    def _take(self, head: dict[str, Any], *lines: dict[str, Any]) -> None:
        if head["version"] != 1:
            raise SessionError(f"{self.path} was written by a newer version of this library")
        if head["session"] != self.name:
            raise SessionError(
                f"{self.path} is of the session {head['session']!r}, and not of {self.name!r}"
            )
        for line in lines:
            if "finished" in line:
                raise SessionFinished(
                    f"the session {self.name} came to its end before: all of it is done"
                )
            if "decided" in line:
                self._decisions.append(line["decided"])
                continue
            number = line["step"]
            if "ended" in line:
                self._steps[number] = Step(
                    **{**self._steps[number].__dict__, "ended": line["ended"]}
                )
            else:
                began = Step(number, line["attempt"], line["fingerprint"], line["at"])
                self._steps[number:] = [began]


def _end_of(error: FarhandError | None) -> str | None:
    match error:
        case None:
            return "done"
        case InvalidRequest() if error.is_about_the_key:
            raise SessionChanged(
                "the server has another input under this key: a session of this name has run "
                "before, with another file; use a new name"
            ) from None
        case InvalidRequest():
            return "nothing"
        case Problem(final=True):
            return "other" if error.may_have_happened else "nothing"
        case _:
            return None


_BINARY = getattr(os, "O_BINARY", 0)


def fingerprint_of(method: str, path: str, body: Any) -> str:
    """What tells an input from others, in the place of its text."""
    said = json.dumps([method, path, body], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(said.encode()).hexdigest()


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, path: Path) -> None:
        try:
            # Far behind the end: nothing is ever written there.
            os.lseek(descriptor, MAX_FILE_BYTES * 2, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        except OSError:
            raise _in_use(path) from None

else:
    import fcntl

    def _lock(descriptor: int, path: Path) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise _in_use(path) from None


def _in_use(path: Path) -> SessionInUse:
    return SessionInUse(f"another program has the session of {path} open")
