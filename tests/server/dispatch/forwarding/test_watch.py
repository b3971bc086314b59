"""Waiting for another node only as long as that has the link."""

import asyncio

import pytest

from server.bus.bus import ReplyLostError
from server.dispatch.forwarding import watch
from server.dispatch.forwarding.watch import LinkWatch
from server.tasks import Tasks
from tests.service import until


class Link:
    """Another node's link; ``asked`` counts the questions whether it is there."""

    def __init__(self) -> None:
        self.is_there = True
        self.asked = 0

    async def look(self) -> bool:
        self.asked += 1
        return self.is_there


@pytest.fixture
def link(monkeypatch: pytest.MonkeyPatch) -> Link:
    monkeypatch.setattr(watch, "LINK_POLL_SECONDS", 0.01)
    return Link()


async def waiting(link: Link, background: Tasks, reply: asyncio.Future[str]) -> str:
    with LinkWatch(link.look, background):
        return await reply


async def test_reply_is_waited_for_as_long_as_the_link_is_there(link: Link) -> None:
    background, reply = Tasks(), asyncio.get_running_loop().create_future()
    asking = background.start(waiting(link, background, reply), "ask")
    await until(lambda: link.asked >= 3)
    assert not asking.done()
    reply.set_result("done")
    assert await asking == "done"
    asked = link.asked
    await asyncio.sleep(0.05)
    assert link.asked == asked


async def test_wait_ends_once_the_link_is_gone_and_its_task_goes_on(link: Link) -> None:
    background, reply = Tasks(), asyncio.get_running_loop().create_future()

    async def ask() -> tuple[str, int]:
        try:
            await waiting(link, background, reply)
        except ReplyLostError as error:
            task = asyncio.current_task()
            assert task is not None
            await asyncio.sleep(0)
            return str(error), task.cancelling()
        return "a reply", 0

    link.is_there = False
    asking = background.start(ask(), "ask")
    assert await asking == ("the link is not there any more", 0)


async def test_caller_that_is_cancelled_is_cancelled(link: Link) -> None:
    background, reply = Tasks(), asyncio.get_running_loop().create_future()
    asking = background.start(waiting(link, background, reply), "ask")
    await until(lambda: link.asked >= 1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    asked = link.asked
    await asyncio.sleep(0.05)
    assert link.asked == asked


async def test_caller_that_is_cancelled_as_the_link_goes_is_cancelled(link: Link) -> None:
    background, reply = Tasks(), asyncio.get_running_loop().create_future()
    asking = background.start(waiting(link, background, reply), "ask")

    async def cancel_too() -> bool:
        asking.cancel()
        return False

    link.look = cancel_too  # type: ignore[method-assign]
    with pytest.raises(asyncio.CancelledError):
        await asking
