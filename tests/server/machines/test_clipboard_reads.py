"""Who reads a clipboard waits for its machine's answer, and no longer than they may."""

import asyncio

import pytest

from schemas.link.clipboard_messages import ClipboardQuery
from server.machines.clipboard_reads import (
    MAX_OPEN_READS,
    ClipboardUnreadableError,
    MachineClipboard,
)
from server.machines.link.errors import LinkBusyError, LinkDownError, LinkLostError
from server.machines.link.questions.clipboard import ClipboardArrived, ClipboardRefused


class Desk:
    """A machine's clipboard whose questions are kept."""

    def __init__(self) -> None:
        self.questions: list[ClipboardQuery] = []
        self.is_up = True
        self.clipboard = MachineClipboard(self.questions.append, lambda: self.is_up)

    async def reading(self, timeout: float = 10) -> "asyncio.Task[str]":
        task = asyncio.create_task(self.clipboard.read("primary", timeout))  # noqa: TID251
        await asyncio.sleep(0)
        return task


async def test_each_gets_the_answer_to_its_question() -> None:
    desk = Desk()
    first, second = await desk.reading(), await desk.reading()
    assert [(each.request, each.selection) for each in desk.questions] == [
        (1, "primary"),
        (2, "primary"),
    ]
    desk.clipboard.arrived(ClipboardArrived(2, "second"))
    desk.clipboard.arrived(ClipboardRefused(1, "clipboard_silent", "why"))
    assert await second == "second"
    with pytest.raises(ClipboardUnreadableError, match="why") as refused:
        await first
    assert refused.value.code == "clipboard_silent"


async def test_link_that_is_down_or_ends_is_said() -> None:
    desk = Desk()
    waiting = await desk.reading()
    desk.clipboard.over()
    with pytest.raises(LinkLostError):
        await waiting
    desk.is_up = False
    with pytest.raises(LinkDownError):
        await desk.clipboard.read("clipboard", 1)


async def test_one_that_was_given_up_counts_until_it_is_answered() -> None:
    desk = Desk()
    for _ in range(MAX_OPEN_READS):
        with pytest.raises(TimeoutError):
            await desk.clipboard.read("clipboard", 0)
    with pytest.raises(LinkBusyError):
        await desk.clipboard.read("clipboard", 0)
    desk.clipboard.arrived(ClipboardArrived(1, "too late"))
    desk.clipboard.arrived(ClipboardRefused(2, "code", "too late"))
    waiting = await desk.reading()
    desk.clipboard.arrived(ClipboardArrived(desk.questions[-1].request, "in time"))
    assert await waiting == "in time"
