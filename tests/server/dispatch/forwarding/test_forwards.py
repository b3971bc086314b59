"""What a node remembers of the commands that others have forwarded to it."""

from uuid import UUID, uuid4

import pytest

from server.dispatch.command import Pending
from server.dispatch.forwarding import forwards as module
from server.dispatch.forwarding.forwards import Forwards

NOW = 1_000_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    now = [NOW]
    monkeypatch.setattr(module, "server_time", lambda: now[0])
    return now


@pytest.fixture
def forwards(clock: list[int]) -> Forwards:
    return Forwards()


def answered(forwards: Forwards, answer_by: int) -> UUID:
    """The id of a command that was answered."""
    forward_id = uuid4()
    forwards.add(forward_id, answer_by).set_result(Pending(command_id=forward_id))
    return forward_id


async def test_command_is_remembered_until_nobody_asks_any_more(
    forwards: Forwards, clock: list[int]
) -> None:
    forward_id = answered(forwards, NOW)
    clock[0] = NOW + 4999
    forwards.forget_late()
    assert forward_id in forwards
    clock[0] = NOW + 5001
    forwards.forget_late()
    assert forward_id not in forwards
    assert forwards.find(forward_id) is None


async def test_long_drag_holds_back_nothing_that_is_due_before_it(
    forwards: Forwards, clock: list[int]
) -> None:
    drag = answered(forwards, NOW + 90_000)
    clicks = [answered(forwards, NOW + 10_000) for _ in range(3)]
    clock[0] = NOW + 16_000
    forwards.forget_late()
    assert drag in forwards
    assert not any(each in forwards for each in clicks)


async def test_what_is_not_answered_in_time_is_kept_and_holds_back_nothing(
    forwards: Forwards, clock: list[int]
) -> None:
    late = uuid4()
    reply = forwards.add(late, NOW)
    click = answered(forwards, NOW + 1)
    clock[0] = NOW + 6000
    forwards.forget_late()
    assert (late in forwards, click in forwards, forwards.under_way) == (True, False, 1)
    reply.set_result(Pending(command_id=late))
    clock[0] = NOW + 12_000
    forwards.forget_late()
    assert len(forwards) == 0


async def test_more_is_forgotten_than_comes(forwards: Forwards, clock: list[int]) -> None:
    for _ in range(100):
        answered(forwards, NOW)
    for _ in range(50):
        clock[0] += 6000
        forwards.forget_late()
        answered(forwards, clock[0])
    assert len(forwards) <= 2


async def test_number_is_bounded(forwards: Forwards, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FORWARDS_KEPT", 2)
    answered(forwards, NOW)
    assert not forwards.is_full
    answered(forwards, NOW)
    assert forwards.is_full
