"""What a session has done, and what its next input may be.

A step is an input or a decision.  Started again, a program is told what it was told before, up to
the step that was last begun.  If that is an input, it is sent under the same key; or under a new
one where it is known that it never happened.
"""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any, Final, NoReturn

from farhand._session_file import MAX_BYTES, SessionFile
from farhand._session_lines import (
    Begun,
    Decided,
    End,
    Ended,
    Finished,
    Input,
    Line,
    Step,
    head_of,
    steps_in,
    tried_now,
)
from farhand.errors import (
    InvalidRequest,
    Refused,
    SessionChanged,
    SessionError,
    SessionTooOld,
)

KEYS_LIVE_SECONDS: Final = 24 * 3600.0
"""So long servers remember keys, unless ``idempotency_key_lifetime`` is set there."""

CLOCK_SECONDS: Final = 60.0
"""So far a clock may have been set back between two runs of a program."""

_ENDS_BYTES: Final = 1024 * 1024
"""Room in the file for the end of what is begun."""


class SessionSteps:
    """A session; while it is open, nobody else has it.

    ``begin`` an input, send it under its ``key_of``, and say that it is ``done`` or ``refused``.
    Whatever else becomes of it leaves it open, and then nothing is begun behind it.
    """

    def __init__(self, name: str, file: SessionFile, lifetime: float) -> None:
        if not name.strip() or not name.isprintable():
            raise ValueError("a session has a name of printable characters, such as order-4711")
        if not lifetime > 0:
            raise ValueError("keys_live is for how many seconds the server remembers keys")
        self.name = name
        self._file = file
        self._lifetime = lifetime
        self._steps: list[Step] = []
        self._next = 0
        self._is_waiting = False
        """Whether the last step that came here has no end."""
        self._is_deciding = False
        self._failure: SessionError | None = None
        self._lock = Lock()

    def open(self) -> None:
        """Read what was done so far.  Raises a SessionError."""
        content = self._file.open()
        try:
            self._steps = self._read(content)
            # Nothing of a file is touched before it is known for this session's.
            if (whole := content.rfind(b"\n") + 1) < len(content):
                self._file.cut(whole)
            if not whole:
                self._file.add(head_of(self.name), flush=True)
        except BaseException:
            self._file.close()
            raise
        self._next, self._failure = 0, None
        self._is_waiting = self._is_deciding = False

    def close(self) -> None:
        """Let others have it; what is written stays."""
        self._file.close()

    def finish(self) -> None:
        """Say that all is done: the session is not opened again.  Raises a SessionError."""
        self._check_that_it_goes_on()
        if not self._is_free(self._next):
            self._fail(
                SessionChanged(
                    f"the session {self.name} ended after {self._next} steps, and had "
                    f"{len(self._steps)} when it ran before: it is not finished"
                )
            )
        self._write(Finished(finished=time.time()), flush=True)

    def begin(self, method: str, path: str, body: Any) -> Input:
        """The next input, on the disk before it is sent; with its answer, where that is known.

        Raises a SessionError where it is not what it was, or nothing may be sent any more.
        """
        fingerprint = fingerprint_of(method, path, body)
        with self._lock:
            self._check_that_it_goes_on()
            self._is_waiting = True  # Also where Ctrl-C comes meanwhile.
            step = self._at(self._next, fingerprint)
            self._next += 1
            self._is_waiting = step.end is None
        return step

    def decision(self) -> Decided | None:
        """The decision that was made here before.  Raises a SessionError."""
        with self._lock:
            self._check_that_it_goes_on()
            if self._is_free(self._next):
                return None
            known = self._steps[self._next]
            if not isinstance(known, Decided):
                self._fail(self._changed(self._next))
            self._next += 1
        return known

    @contextmanager
    def deciding(self) -> Iterator[None]:
        """While a decision is made no other step is: it would not be there when it is known."""
        self._is_deciding = True
        try:
            yield
        finally:
            self._is_deciding = False

    def decide(self, value: Any) -> Decided:
        """Keep a decision before anything is done about it.  Raises a SessionError."""
        try:
            # As it is read again: with lists in the place of tuples.
            value = json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError, RecursionError):
            raise SessionError("what is decided must be JSON: numbers, texts, lists") from None
        with self._lock:
            self._check_that_it_goes_on()
            self._is_waiting = True
            made = Decided(step=self._next, decided=value)
            self._add(made, made)
            self._next += 1
            self._is_waiting = False
        return made

    def again(self, step: Input) -> Input:
        """Another try of an input that never happened."""
        self._is_waiting = True
        return self._begin(step.next_try(step.begun.fingerprint))

    def done(self, step: Input, answer: Mapping[str, Any]) -> None:
        """Write down the answer to an input that was carried out."""
        self._end(step, "done", 200, answer)

    def refused(self, step: Input, error: Refused) -> Input:
        """Write down an error, unless the input may still happen.

        Raises SessionChanged where the server knows another input under the key.
        """
        if isinstance(error, InvalidRequest) and error.is_about_the_key:
            self._fail(
                SessionChanged(
                    f"the server knows another input as step {step.place + 1} of the "
                    f"session {self.name}: one of this name ran before with another file; use a "
                    "new name"
                )
            )
        if not error.may_have_happened:
            return self._end(step, "nothing", error.status, error.body)
        return self._end(step, "other", error.status, error.body) if error.final else step

    def key_of(self, step: Input) -> str:
        """The same for the same try of the same input of a session of this name, for ever.

        What is sent is not in it: so the server refuses another input at this place, even if the
        file is lost.
        """
        seed = f"{self.name}\0{step.begun.step}\0{step.begun.attempt}".encode()
        return f"session-{hashlib.sha256(seed).hexdigest()[:48]}"

    def seconds_left(self, step: Input) -> float:
        """For how long its key may be sent: so long the server is sure to remember it."""
        return self._lifetime - (time.time() - step.begun.at)

    def _read(self, content: bytes) -> list[Step]:
        try:
            return steps_in(content, self.name)
        except SessionError as error:
            if type(error) is not SessionError:
                raise
            raise SessionError(f"{self._file.path} {error}") from None

    def _at(self, number: int, fingerprint: str) -> Input:
        """What stands at this place, or is put there."""
        if number == len(self._steps):
            return self._begin(tried_now(number, fingerprint))
        known = self._steps[number]
        if not isinstance(known, Input):
            self._fail(self._changed(number))
        if self._is_free(number):
            return self._begin(known.next_try(fingerprint))
        if known.begun.fingerprint != fingerprint:
            self._fail(self._changed(number))
        if known.end is None:
            self._check_age(known)
        return known

    def _is_free(self, number: int) -> bool:
        """Whether anything may stand at this place.

        That is behind the last step, and in its place where it never happened: the program has
        ended with it, and is started again once something was put right.
        """
        last = self._steps[-1] if self._steps else None
        is_vacant = isinstance(last, Input) and last.never_happened
        return number >= len(self._steps) - is_vacant

    def _changed(self, number: int) -> SessionChanged:
        return SessionChanged(
            f"step {number + 1} of the session {self.name} is another than when it ran before: use "
            "a new name for other work, or the program that began it"
        )

    def _check_that_it_goes_on(self) -> None:
        if not self._file.is_open:
            raise SessionError(f"the session {self.name} is not open: use it in a with statement")
        if self._failure is not None:
            raise self._failure
        if self._is_deciding:
            raise SessionError("within once nothing is sent: decide, and send afterwards")
        if self._is_waiting:
            raise SessionError(
                f"the last step of the session {self.name} has no answer yet, so nothing comes "
                "behind it: inputs are for one task or thread at a time, and after an error the "
                "program goes on when it is started again"
            )

    def _check_age(self, step: Input) -> None:
        if -CLOCK_SECONDS <= time.time() - step.begun.at < self._lifetime:
            return
        self._fail(
            SessionTooOld(
                f"step {step.place + 1} of the session {self.name} was not begun within the "
                f"last {self._lifetime / 3600:g} h, by this system's clock: the server may have "
                "forgotten its key, so it is not sent again; look at the machine, and use a new "
                "name for what is left"
            )
        )

    def _begin(self, tried: Begun) -> Input:
        step = Input(tried)
        self._add(tried, step)
        return step

    def _add(self, line: Begun | Decided, step: Step) -> None:
        """Put a step where it belongs, on the disk first."""
        if self._file.size > MAX_BYTES - _ENDS_BYTES:
            self._fail(SessionError(f"{self._file.path} is full: use a new name, and a new file"))
        self._write(line, flush=True)
        self._steps[line.step :] = [step]

    def _end(self, step: Input, ended: End, status: int, answer: Any) -> Input:
        end = Ended(
            step=step.begun.step,
            attempt=step.begun.attempt,
            ended=ended,
            status=status,
            answer=_without_pictures(answer),
        )
        # It is flushed with the next line.  If it is lost before, the server still knows it.
        self._write(end, flush=False, may_have_happened=ended != "nothing")
        ended_step = replace(step, end=end)
        self._steps[-1] = ended_step
        self._is_waiting = False
        return ended_step

    def _write(self, line: Line, *, flush: bool, may_have_happened: bool = False) -> None:
        try:
            self._file.add(line.model_dump_json().encode(), flush=flush)
        except SessionError as error:
            error.may_have_happened = may_have_happened
            self._fail(error)

    def _fail(self, error: SessionError) -> NoReturn:
        """Raise it now, and for whatever comes behind."""
        self._failure = error
        raise error from None


def fingerprint_of(method: str, path: str, body: Any) -> str:
    """What tells an input from others, in the place of its text."""
    said = json.dumps([method, path, body], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(said.encode()).hexdigest()


def _without_pictures(answer: Any) -> Any:
    """An answer as the server gives it again."""
    if not isinstance(answer, Mapping):
        return answer
    kept = {name: value for name, value in answer.items() if name not in ("screenshot", "picture")}
    if isinstance(actions := kept.get("actions"), list):
        kept["actions"] = [_without_pictures(each) for each in actions]
    return kept
