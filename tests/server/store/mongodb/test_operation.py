"""What an operation of the database bounds, translates and tells."""

import asyncio

import pytest
from pymongo.errors import AutoReconnect, DuplicateKeyError

from server.errors import AlreadyExists, StoreUnavailable
from server.store.mongodb.operation import Operation
from server.tasks import Tasks


class Ends:
    """What was told of ended operations."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.unavailable: list[bool] = []

    def __call__(self, seconds: float, is_unavailable: bool) -> None:
        self.seconds.append(seconds)
        self.unavailable.append(is_unavailable)


async def test_what_takes_too_long_is_unavailable() -> None:
    ends = Ends()
    with pytest.raises(StoreUnavailable, match="in time"):
        async with Operation(0.05, ends):
            await asyncio.Event().wait()
    assert ends.unavailable == [True]
    assert ends.seconds[0] >= 0.05


@pytest.mark.parametrize(
    ("raised", "expected", "is_unavailable"),
    [
        (AutoReconnect("away"), StoreUnavailable, True),
        (TimeoutError(), StoreUnavailable, True),
        (StoreUnavailable("away"), StoreUnavailable, True),
        (DuplicateKeyError("there"), AlreadyExists, False),
        (LookupError("ours"), LookupError, False),
    ],
    ids=lambda value: getattr(value, "__name__", repr(value)),
)
async def test_errors_are_translated_and_told(
    raised: Exception, expected: type[Exception], is_unavailable: bool
) -> None:
    ends = Ends()
    with pytest.raises(expected):
        async with Operation(10, ends):
            raise raised
    assert ends.unavailable == [is_unavailable]


async def test_a_caller_that_is_cancelled_stays_cancelled() -> None:
    ends = Ends()

    async def wait() -> None:
        async with Operation(10, ends):
            await asyncio.Event().wait()

    waiting = Tasks().start(wait(), "waits")
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ends.unavailable == [False]


async def test_what_goes_well_is_told_too() -> None:
    ends = Ends()
    async with Operation(10, ends):
        pass
    async with Operation(10):
        pass
    assert ends.unavailable == [False]
