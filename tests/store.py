"""Helpers for tests that use the real database."""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from typing import Any, TypeVar
from uuid import UUID

from tornado.ioloop import IOLoop

from server.store.identity.tokens import StoredToken, TokenStore, new_token
from server.store.mongodb.database import Database
from tests.waiting import WAIT_SECONDS

ORGANIZATION = UUID("00000000-0000-4000-8000-0000000000a1")
OTHER_ORGANIZATION = UUID("00000000-0000-4000-8000-0000000000b2")

T = TypeVar("T")


def async_test(function: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test that is a coroutine function in an event loop of its own.

    The thread's current loop, which may be that of fixtures, stays as it is.
    """

    @functools.wraps(function)
    def run(*arguments: Any, **named: Any) -> None:
        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
            runner.run(function(*arguments, **named))

    return run


async def insert_token(
    tokens: TokenStore, organization_id: UUID, *what: Any, **more: Any
) -> StoredToken:
    """A token that is stored; what it is made of is as `new_token` takes it."""
    token = new_token(organization_id, *what, **more)
    await tokens.insert(token)
    return token


@contextmanager
def entered(io_loop: IOLoop, context: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """An asynchronous context in a loop that runs now and then."""
    with ExitStack() as ending:
        value: T = io_loop.run_sync(context.__aenter__)
        ending.callback(io_loop.run_sync, lambda: context.__aexit__(None, None, None))
        yield value


@asynccontextmanager
async def opened(uri: str, name: str, *, timeout: float = WAIT_SECONDS) -> AsyncIterator[Database]:
    """A prepared database, which is closed afterwards.

    Whoever gave its name empties it: to make its indexes takes longer than most tests.
    """
    database = await Database.open(uri, name, timeout=timeout)
    try:
        yield database
    finally:
        await database.finish()


async def collected(items: AsyncIterator[T]) -> list[T]:
    """Everything that an asynchronous iterator yields."""
    return [item async for item in items]


def there(value: T | None) -> T:
    """The value, which must not be None."""
    assert value is not None
    return value
