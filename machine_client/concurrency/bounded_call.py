"""A call that may take for ever, without a caller who has to wait for ever."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Generic, TypeVar

from machine_client.concurrency.threads import daemon_thread

T = TypeVar("T")

STEP_SECONDS = 0.25


class BoundedCall(Generic[T]):
    """Runs one function in threads of its own, and never twice at the same time.

    The threads are daemons: one that hangs does not keep the program from ending.
    """

    def __init__(self, call: Callable[[], T], name: str) -> None:
        self._call = call
        self._name = name
        self._running: asyncio.Future[T] | None = None

    async def result(self, seconds: float) -> T:
        """What a call returns that begins now.  Raises TimeoutError, and what the call raises.

        A call that takes too long goes on.  Whoever asks next waits for its end first, and gets
        the result of a new one: what began long ago may no longer be true.
        """
        # Counted in steps: one in which the whole process stood still counts as one of many.
        steps = max(1, round(seconds / STEP_SECONDS))
        while True:
            began_earlier = self._running is not None
            running = self._running = self._running or self._start()
            while not running.done():
                if steps == 0:
                    raise TimeoutError
                await asyncio.wait((running,), timeout=min(seconds, STEP_SECONDS))
                steps -= 1
            self._running = None
            if not began_earlier:
                return running.result()
            running.exception()  # Nobody wants to know it any more.

    async def ended(self, seconds: float) -> bool:
        """Wait for the end of a call that is under way; False where it does not come in time."""
        if self._running is not None:
            await asyncio.wait((self._running,), timeout=seconds)
        return self._running is None or self._running.done()

    def _start(self) -> asyncio.Future[T]:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        daemon_thread(partial(self._work, future), self._name).start()
        return future

    def _work(self, future: asyncio.Future[T]) -> None:
        try:
            result = self._call()
        except Exception as error:  # noqa: BLE001 - raised where the result is waited for
            self._tell(future, future.set_exception, error)
        else:
            self._tell(future, future.set_result, result)

    def _tell(self, future: asyncio.Future[T], setter: Callable[..., None], value: object) -> None:
        # The loop is closed when the call outlives the program's end.
        with suppress(RuntimeError):
            future.get_loop().call_soon_threadsafe(setter, value)
