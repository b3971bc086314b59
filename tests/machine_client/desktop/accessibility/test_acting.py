"""What an element is asked, where its program answers late, never, or with a refusal."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from machine_client.desktop.accessibility import acting
from machine_client.desktop.accessibility.bus import CallRefusedError, SilentProgramError
from machine_client.desktop.accessibility.nodes import Address, Node
from machine_client.desktop.base import DesktopError, OutcomeUnknown, Refusal

BUTTON = Node(Address(":1.7", "/b"), 43, "Save", 1 << 24)
SLIDER = Node(Address(":1.7", "/s"), 51, "Volume", 1 << 24)


class ScriptedCalls:
    """A program that answers as a test says; what it is not told of never has an answer."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers
        self.asked: list[str] = []

    async def call(self, name: str, path: str, interface: str, member: str, *_: Any) -> Any:
        return self._answer(member)

    def send_slowly(
        self, name: str, path: str, interface: str, member: str, *_: Any
    ) -> "asyncio.Task[Any]":
        self.asked.append(member)

        async def answered() -> Any:
            if member not in self._answers:
                await asyncio.Event().wait()
            return self._answer(member)

        return asyncio.get_running_loop().create_task(answered())

    def _answer(self, member: str) -> Any:
        answer = self._answers.get(member, SilentProgramError("stuck"))
        if isinstance(answer, Exception):
            raise answer
        return answer


def run(coroutine: Coroutine[Any, Any, None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acting, "PATIENCE_SECONDS", 0.01)
    asyncio.run(coroutine)


def test_program_that_opens_a_dialog_has_done_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Any = ScriptedCalls(Get=1, GetRole=43)
    run(acting.invoke(calls, BUTTON), monkeypatch)
    assert calls.asked == ["DoAction"]


def test_element_that_is_gone_by_it_has_done_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Any = ScriptedCalls(Get=1, GetRole=CallRefusedError("gone"))
    run(acting.invoke(calls, BUTTON), monkeypatch)


def test_program_that_is_stuck_then_leaves_it_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Any = ScriptedCalls(Get=1)
    with pytest.raises(OutcomeUnknown):
        run(acting.invoke(calls, BUTTON), monkeypatch)
    assert calls.asked == ["DoAction"]


@pytest.mark.parametrize("answer", [False, CallRefusedError("no")])
def test_refusal_is_a_failure(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Any = ScriptedCalls(Get=1, DoAction=answer)
    with pytest.raises(DesktopError) as raised:
        run(acting.invoke(calls, BUTTON), monkeypatch)
    assert raised.value.code == "element_refused"


def test_program_that_is_stuck_before_is_asked_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Any = ScriptedCalls()
    with pytest.raises(DesktopError) as raised:
        run(acting.invoke(calls, BUTTON), monkeypatch)
    assert (raised.value.code, calls.asked) == ("element_silent", [])


def test_what_an_element_is_not_there_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Any = ScriptedCalls(Get=0)
    for asked in (
        acting.invoke(calls, BUTTON),
        acting.focus(calls, BUTTON),
        acting.set_value(calls, BUTTON, "text"),
        acting.set_value(calls, BUTTON, 1),
    ):
        with pytest.raises(Refusal) as refused:
            run(asked, monkeypatch)
        assert refused.value.outcome.code == "element_cannot"
    assert calls.asked == []


def test_number_that_is_not_taken_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Any = ScriptedCalls(Set=None, Get=100.0)
    run(acting.set_value(calls, SLIDER, 100), monkeypatch)
    with pytest.raises(DesktopError) as raised:
        run(acting.set_value(calls, SLIDER, 1000), monkeypatch)
    assert raised.value.code == "value_not_taken"
