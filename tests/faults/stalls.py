"""Sees for how long the database did nothing, by small writes of its own.

What a product promises within a second it cannot keep while its machine, or the database, stands
still.  A witness that writes beside it stands still just as long.
"""

import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import pymongo
from pymongo.errors import PyMongoError

from tests.faults.history import Clock

EVERY_SECONDS: Final = 0.05
REMEMBERED: Final = 200

LONGEST_SECONDS: Final = 10
"""Of one write; then the next one begins."""


USUAL_SECONDS: Final = 0.1
"""A write that takes no longer is none for which anybody waits."""


def stalled(rounds: Sequence[tuple[float, float]], moment: float, seconds: float) -> float:
    """How long nothing was done, beside the last so many seconds before a moment.

    Of each round its end and how long it took beyond `EVERY_SECONDS`.  What is to be written in
    that time may have to wait for several such writes, one after another.
    """
    left, waited = seconds, 0.0
    for ended_at, took in reversed(rounds):
        if left <= 0:
            break
        if ended_at <= moment:
            left -= EVERY_SECONDS
            if took > USUAL_SECONDS:
                waited += took
            else:
                left -= max(0.0, took)
    return waited


class StallWatch:
    """Writes into a database, one small write after another, until it is closed."""

    def __init__(self, uri: str, clock: Clock) -> None:
        self._clock = clock
        self._client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(
            uri, w="majority", journal=True, timeoutMS=LONGEST_SECONDS * 1000
        )
        self._began_at = clock()
        self._ended: deque[tuple[float, float]] = deque(maxlen=REMEMBERED)
        self._closing = threading.Event()
        self._writing = threading.Thread(target=self._write, name="writes beside a recording")
        self._writing.start()

    def close(self) -> None:
        """Write no more."""
        self._closing.set()
        self._writing.join()
        self._client.close()

    def longest_since(self, moment: float) -> float:
        """The seconds that the longest write took of those that ended since, or did not yet."""
        began_at, now = self._began_at, self._clock()
        ended = [took for ended_at, took in [*self._ended] if ended_at >= moment]
        return max(0.0, now - began_at - EVERY_SECONDS, *ended)

    def before(self, moment: float, seconds: float) -> float:
        """How long the database did nothing, beside the last so many seconds in which it worked."""
        under_way = moment, max(0.0, moment - self._began_at - EVERY_SECONDS)
        return stalled([*self._ended, under_way], moment, seconds)

    def _write(self) -> None:
        writes = self._client["stalls"]["writes"]
        while not self._closing.wait(EVERY_SECONDS):
            with suppress(PyMongoError):
                writes.update_one({"_id": 0}, {"$inc": {"times": 1}}, upsert=True)
            ended_at = self._clock()
            # A round that began late was held up as well.
            self._ended.append((ended_at, ended_at - self._began_at - EVERY_SECONDS))
            self._began_at = ended_at
