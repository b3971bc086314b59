"""What happened in a fault run: the commands, every request for them, and the faults.

Times are seconds of the monotonic clock since the run's beginning.
"""

import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from tests.faults.inputs import Input, random_maker

CLOCKS_DIFFER_SECONDS = 0.05
"""By how much an X server's time of something and the run's may differ."""

NOTHING_HAPPENED = ("machine-unavailable", "machine-busy")
"""Problems that promise a client without a key that it may send again."""

NEVER = ("not-carried-out", "input-expired", "element-missing")
"""Final answers that say that nothing happened, and never will."""

SOMEBODY_HOLDS = "somebody at the desk held something"
HAS_CONTROL = "somebody had control of a machine"
"""The kind of a fault in which a person has a button or a key pressed for a while."""


class FinalAnswer(NamedTuple):
    """What must be the same in every final answer."""

    status: int
    body: bytes


@dataclass(frozen=True)
class Try:
    """One request: when it was sent and how it ended; ``status`` 0 is no answer at all."""

    sent_at: float
    ended_at: float
    node: str
    status: int
    body: bytes
    error: str = ""

    @property
    def answer(self) -> FinalAnswer:
        return FinalAnswer(self.status, self.body)

    @property
    def problem(self) -> str:
        """The problem's name, such as ``outcome-unknown``; empty for anything else."""
        if self.status < 400:
            return ""
        return str(self.json.get("type", "")).removeprefix("/problems/")

    @property
    def is_final(self) -> bool:
        """Whether this is the command's one answer, as docs/reference/answers.md tells clients."""
        if self.status == 0:
            return False
        if self.status < 500 and self.status not in (409, 429):
            return True
        return self.json.get("final") is True

    @property
    def looked_up(self) -> tuple[int, Any] | None:
        """Status and JSON of the final answer that a look at the command shows, if it does."""
        answer = self.json.get("answer") if self.status == 200 else None
        return (answer["status"], answer["body"]) if isinstance(answer, dict) else None

    @property
    def shown(self) -> "Try | None":
        """The final answer that a look shows, as if it had been given."""
        if self.looked_up is None:
            return None
        status, body = self.looked_up
        return replace(self, status=status, body=json.dumps(body).encode())

    @property
    def json(self) -> Mapping[str, Any]:
        """The body, where it is a JSON object; else an empty one."""
        try:
            parsed = json.loads(self.body)
        except ValueError:
            return {}
        return parsed if isinstance(parsed, dict) else {}


@dataclass
class CommandHistory:
    """A command under a key, and everything that was asked about it.

    ``other_tries`` are requests with the same key and another body, which must not happen;
    ``looks`` are those for its state, without sending it.  ``release`` is the command that may
    release what this one keeps pressed.  One that is not ``is_keyed`` is sent once, without its
    key, and looked at where its outcome is pending.
    """

    number: int
    key: str
    machine: str
    input: Input
    other_input: Input
    tries: list[Try] = field(default_factory=list)
    other_tries: list[Try] = field(default_factory=list)
    looks: list[Try] = field(default_factory=list)
    release: "CommandHistory | None" = None
    is_keyed: bool = True

    def id(self, organization_id: UUID) -> UUID:
        """The id that the server and the journal know it by."""
        return uuid5(organization_id, self.key)

    def window(self) -> tuple[float, float]:
        """From the first request to the end of the last."""
        if not self.tries:
            return 0.0, 0.0
        return min(each.sent_at for each in self.tries), max(each.ended_at for each in self.tries)

    def until_answered(self) -> tuple[float, float]:
        """From the first request to the first final answer, or to the end of the last request."""
        begin, end = self.window()
        final = self.first_final()
        return begin, end if final is None else min(end, final.ended_at)

    def first_final(self) -> Try | None:
        """The final answer that came first; without a key also one that a look has shown."""
        finals = [each for each in self.tries if each.is_final]
        if not self.is_keyed:
            finals += [shown for each in self.looks if (shown := each.shown) is not None]
        return min(finals, key=lambda each: each.ended_at) if finals else None


@dataclass(eq=False)
class Fault:
    """One thing that was done to the system, and for how long."""

    kind: str
    target: str
    began_at: float
    ended_at: float | None = None
    detail: str = ""

    def __str__(self) -> str:
        end = "..." if self.ended_at is None else f"{self.ended_at:.3f}"
        return f"{self.began_at:9.3f} to {end}: {self.kind} of {self.target} {self.detail}".rstrip()


class Clock:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def __call__(self) -> float:
        return time.monotonic() - self._began

    def of_program(self, monotonic: float) -> float:
        """A moment as a program of this host counts time."""
        return monotonic - self._began

    def of_x_server(self, milliseconds: int) -> float:
        """A moment of the recent past, as an X server of this host counts time.

        It takes the same clock, whose milliseconds begin anew after 49 days.
        """
        passed = (int(time.monotonic() * 1000) - milliseconds) % 2**32
        return self() - (passed - 2**32 if passed > 2**31 else passed) / 1000


def random_command(
    number: int,
    key: str,
    machine: str,
    rng: random.Random,
    *,
    copies: bool = True,
    has_field: bool = False,
) -> CommandHistory:
    """A command whose events say which one they belong to; one that copies only where ``copies``.

    Where the machine ``has_field``, some are about that element.

    Each number has three contents: for the command, for another body under its key, and for the
    command that releases what this one keeps pressed.
    """
    make, make_release = random_maker(rng, copies=copies, has_field=has_field)
    command = CommandHistory(number, key, machine, make(3 * number), make(3 * number + 1))
    if make_release is not None:
        release = make_release(3 * number + 2 if command.input.has_place else 3 * number)
        other = make_release(3 * number + 1)
        command.release = CommandHistory(number, f"{key}-release", machine, release, other)
    return command
