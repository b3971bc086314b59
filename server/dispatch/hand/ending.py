"""How a hand's inputs fail, and how what it holds is released in the end."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from schemas.http import problems
from schemas.http.problems import InvalidRequestError, ProblemError
from schemas.inputs.bodies import AnyInput, Button, ClickMouse, PressKeys
from server.store.errors import StoreUnavailable

RELEASE_SECONDS: Final = 30.0
"""How long a release is tried again: by then the lease has run out, which releases as well."""

AGAIN_SECONDS: Final = 0.5

AT_ONCE: Final = 32
"""Keys in one input."""

_IN_PART: Final = {
    each.name
    for each in (problems.INPUT_FAILED, problems.OUTCOME_UNKNOWN, problems.OUTCOME_PENDING)
}
_FINAL: Final = {problems.CONTROL_ENDED.name, problems.NOT_FOUND.name, problems.INPUT_FAILED.name}


@dataclass(frozen=True)
class Failure:
    """Why an input was not carried out, or not for sure.

    ``problem`` is the name of a problem, or the type of a validation error of the machine's.
    """

    problem: str
    detail: str
    something_happened: bool = False
    is_refused_for_good: bool = False

    @property
    def is_control_ended(self) -> bool:
        """Whether the lease is over."""
        return self.problem == problems.CONTROL_ENDED.name


async def failure_of(carry_out: Callable[[], Awaitable[tuple[int, bytes]]]) -> Failure | None:
    """Carry something out that ends with an HTTP answer; None where it succeeded."""
    try:
        status, body = await carry_out()
    except ProblemError as problem:
        name = problem.problem_type.name
        return Failure(name, problem.detail, name in _IN_PART, name in _FINAL)
    except InvalidRequestError as error:
        entry = error.entries[0]
        return Failure(entry.type, entry.msg, is_refused_for_good=True)
    except StoreUnavailable as error:
        return Failure(problems.STORAGE_UNAVAILABLE.name, str(error))
    return None if status < 400 else _answered(status, json.loads(body))


def _answered(status: int, answer: dict[str, object]) -> Failure:
    """What an answer says that the machine has given, in the end."""
    detail = answer["detail"]
    if isinstance(detail, list):
        return Failure(str(detail[0]["type"]), str(detail[0]["msg"]), is_refused_for_good=True)
    name = str(answer["type"]).removeprefix("/problems/")
    # What was pressed by somebody at the desk is no reason to doubt what happened: nothing did.
    is_nothing = name == problems.INPUT_FAILED.name and answer.get("injected_at_least") == 0
    something = name in _IN_PART and not is_nothing
    return Failure(name, str(detail), something, name in _FINAL)


class ReleasedAtEnd:
    """Releases buttons and keys, and tries again as long as nobody knows whether it was done.

    Where the machine has lost its link, or control ends, that releases everything as well.
    """

    def __init__(
        self,
        buttons: list[Button],
        keys: list[str],
        send: Callable[[AnyInput], Awaitable[Failure | None]],
        is_held_anew: Callable[[AnyInput], bool],
    ) -> None:
        self._buttons = buttons
        self._keys = keys
        self._send = send
        self._is_held_anew = is_held_anew
        self._done = asyncio.Event()

    async def run(self) -> None:
        """Release everything; one after another, the keys first."""
        try:
            give_up_at = time.monotonic() + RELEASE_SECONDS
            for begin in range(0, len(self._keys), AT_ONCE):
                await self._release_keys(self._keys[begin : begin + AT_ONCE], give_up_at)
            for button in self._buttons:
                await self._insist(ClickMouse(button=button, down=False), give_up_at)
        finally:
            self._done.set()

    async def until_done(self) -> None:
        """Wait until all of it is released, or given up."""
        await self._done.wait()

    async def _release_keys(self, keys: list[str], give_up_at: float) -> None:
        # The machine releases the last one first.
        together = PressKeys(text=" ".join(keys), down=False)
        failure = await self._insist(together, give_up_at)
        is_refused = failure is not None and not failure.is_control_ended
        if is_refused or self._is_held_anew(together):
            # Somebody else may hold one of them: that must not keep the others down.
            for key in reversed(keys):
                await self._insist(PressKeys(text=key, down=False), give_up_at)

    async def _insist(self, body: AnyInput, give_up_at: float) -> Failure | None:
        failure: Failure | None = None
        while True:
            if self._is_held_anew(body):
                # That is meant, and is released with what is held then.
                return failure
            failure = await self._send(body)
            if failure is None or failure.is_refused_for_good or time.monotonic() > give_up_at:
                return failure
            await asyncio.sleep(AGAIN_SECONDS)
