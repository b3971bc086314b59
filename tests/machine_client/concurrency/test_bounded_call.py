"""Calls that end, fail and hang, each in a thread of its own."""

import asyncio
import threading

import pytest

from machine_client.concurrency.bounded_call import BoundedCall
from tests.waiting import WAIT_SECONDS, until


class Gate:
    """A call that waits until a test lets it go on, and counts how many run at once."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.calls = self.running = self.most = 0

    def __call__(self) -> int:
        self.calls += 1
        number = self.calls
        self.running += 1
        self.most = max(self.most, self.running)
        assert self.open.wait(WAIT_SECONDS)
        self.running -= 1
        return number


async def test_result_comes_from_a_daemon_thread_of_that_name() -> None:
    call = BoundedCall(threading.current_thread, "look")
    thread = await call.result(WAIT_SECONDS)
    assert (thread.name, thread.daemon) == ("look", True)
    assert await call.result(WAIT_SECONDS) is not thread


async def test_error_of_the_call_is_the_callers() -> None:
    def fail() -> None:
        raise ValueError("no")

    call = BoundedCall(fail, "fails")
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            await call.result(WAIT_SECONDS)


async def test_call_that_hangs_is_not_made_again_and_its_late_result_is_not_used() -> None:
    gate = Gate()
    call = BoundedCall(gate, "hangs")
    for _ in range(3):
        with pytest.raises(TimeoutError):
            await call.result(0.01)
    await until(lambda: gate.calls)  # Its thread may begin later than that.
    assert gate.calls == 1
    assert not await call.ended(0.01)
    gate.open.set()
    assert await call.result(WAIT_SECONDS) == 2
    assert gate.most == 1
    assert await call.ended(0)


async def test_late_failure_is_not_used_either() -> None:
    began, fails = threading.Event(), [True]

    def fail_once() -> str:
        if fails.pop():
            fails.append(False)
            assert began.wait(WAIT_SECONDS)
            raise ValueError("of long ago")
        return "now"

    call = BoundedCall(fail_once, "fails late")
    with pytest.raises(TimeoutError):
        await call.result(0.01)
    began.set()
    assert await call.result(WAIT_SECONDS) == "now"


def test_call_that_outlives_its_loop_ends_quietly() -> None:
    gate = Gate()

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await BoundedCall(gate, "outlives").result(0.01)

    asyncio.run(give_up())
    (thread,) = [each for each in threading.enumerate() if each.name == "outlives"]
    gate.open.set()
    thread.join(WAIT_SECONDS)
    assert not thread.is_alive()
