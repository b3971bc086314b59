"""Inputs for light machines that are counted, and each answer to them held against the count.

Every input goes to a place that no other has: so it can be told how often it was injected.
"""

import itertools
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.arrivals import Place
from tests.faults.history import Try
from tests.faults.inputs import place_of
from tests.faults.takeovers import injected_in
from tests.processes import Answer, ServedApi, until

SETTLE_SECONDS = 15.0
"""For an input to get its final answer when nothing is in the way any more."""

_NOTHING_HAPPENED = ("machine-unavailable", "not-carried-out", "input-expired")
_NEVER = ("not-carried-out", "input-expired")


@dataclass
class CountedInput:
    """A move of the pointer, and everything that was answered to it.

    ``shown`` is what a look at it has found at last, where it has no key.
    """

    machine: str
    place: Place
    key: str | None
    tries: list[Try] = field(default_factory=list)
    shown: Try | None = None

    @property
    def final(self) -> Try | None:
        """The answer that counts, once there is one."""
        return next((each for each in self.tries if each.is_final), self.shown)

    @property
    def is_pending(self) -> bool:
        """Whether the last answer says that nobody knows yet."""
        return bool(self.tries) and self.tries[-1].problem == "outcome-pending"


class CountedInputs:
    """Sends them.  ``directory`` is where the light machines note what they inject."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._numbers = itertools.count()
        self._sent: list[CountedInput] = []

    def new(self, machine: str, *, is_keyed: bool) -> CountedInput:
        """Another input, to be sent with `ask`."""
        number = next(self._numbers)
        new = CountedInput(machine, place_of(number), f"key-{number}" if is_keyed else None)
        self._sent.append(new)
        return new

    def ask(self, api: ServedApi, one: CountedInput) -> str:
        """Send an input, or send it again; the answer, in short.  It must be true by now."""
        body = {"x": one.place.x, "y": one.place.y}
        answer = api.send(one.machine, "mouse/move", body, one.key)
        told = _try(answer)
        one.tries.append(told)
        if answer.status == 200:
            assert self.times(one) == 1, f"completed, and injected {self.times(one)} times: {one}"
        if told.problem in _NOTHING_HAPPENED:
            assert self.times(one) == 0, f"nothing happened, and it was injected: {one}"
        return said(answer)

    def times(self, one: CountedInput) -> int:
        """How often it was injected."""
        return injected_in(self._directory).get((one.machine, one.place), 0)

    def settle(self, api: ServedApi) -> None:
        """Ask until every input has its final answer, and check all answers against the count."""
        for one in self._sent:
            if one.key is not None:
                until(lambda: self._is_final(api, one), f"final: {one}", SETTLE_SECONDS)  # noqa: B023
            elif one.is_pending:
                until(lambda: self._is_shown(api, one), f"known: {one}", SETTLE_SECONDS)  # noqa: B023
            self._check(one)
        self._sent.clear()

    def _is_final(self, api: ServedApi, one: CountedInput) -> bool:
        if one.final is None:
            self.ask(api, one)
        return one.final is not None

    def _is_shown(self, api: ServedApi, one: CountedInput) -> bool:
        command_id = one.tries[-1].json["command_id"]
        one.shown = _try(api.call("GET", f"/v1/commands/{command_id}")).shown
        return one.shown is not None

    def _check(self, one: CountedInput) -> None:
        times, final = self.times(one), one.final
        assert times <= 1, f"injected {times} times: {one}"
        assert times or not any(b"was sent" in each.body for each in one.tries), f"not sent: {one}"
        assert len({each.answer for each in one.tries if each.is_final}) <= 1, f"differ: {one}"
        if final is None:
            # Without a key, and refused.
            assert times == 0, f"refused, and injected: {one}"
        elif final.status == 200:
            assert times == 1, f"completed, and not injected: {one}"
        elif final.problem in _NEVER:
            assert times == 0, f"never carried out, and injected: {one}"
        else:
            # Without a key a machine client that goes on may still have forgotten it.
            assert (one.key, final.problem) == (None, "outcome-unknown"), one


def said(answer: Answer) -> str:
    """An answer in short: its status, its problem, and the reason in it."""
    if answer.status == 200:
        return "200 again" if "Idempotency-Replayed" in answer.headers else "200"
    told = _try(answer)
    words = [str(answer.status), told.problem, str(told.json.get("reason", ""))]
    return " ".join(filter(None, words))


def _try(answer: Answer) -> Try:
    return Try(0.0, 0.0, "", answer.status, answer.body)
