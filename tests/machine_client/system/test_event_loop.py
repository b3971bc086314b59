"""The loop with uvloop and without, and how it hears of signals."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator

import pytest
import uvloop

from machine_client.system import event_loop

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def _handlers_as_before() -> Iterator[None]:
    before = [signal.getsignal(number) for number in STOP_SIGNALS]
    yield
    for number, handler in zip(STOP_SIGNALS, before, strict=True):
        signal.signal(number, handler)


async def kind_of_loop() -> type[asyncio.AbstractEventLoop]:
    return type(asyncio.get_running_loop())


async def told_of(number: signal.Signals) -> None:
    """Return once the loop has heard of a signal."""
    stopped = asyncio.Event()
    event_loop.on_stop_signal(stopped.set)
    os.kill(os.getpid(), number)
    async with asyncio.timeout(10):
        await stopped.wait()


def test_uvloop_is_used_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert event_loop.run(kind_of_loop()) is uvloop.Loop
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert issubclass(event_loop.run(kind_of_loop()), asyncio.SelectorEventLoop)


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_signal_is_heard(number: signal.Signals) -> None:
    event_loop.run(told_of(number))


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_signal_is_heard_by_a_loop_that_takes_no_handlers(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise NotImplementedError  # as Windows' loop does

    monkeypatch.setattr(asyncio.SelectorEventLoop, "add_signal_handler", refuse)
    asyncio.run(told_of(number))
