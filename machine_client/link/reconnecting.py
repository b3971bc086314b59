"""When a machine client tries again after a lost link or a failed try, and what it says then."""

import logging
import random
from collections.abc import Callable, Generator
from dataclasses import dataclass

from machine_client.link.failures import MustStopError, foreign
from schemas.link.close_codes import CloseCode, says_stop

logger = logging.getLogger(__name__)

FIRST_DELAY = 1.0
MOVED_SECONDS = 0.1
"""Up to which a client waits that was sent to another node: that has come in a small group."""

LASTING_SECONDS = 5.0
"""A link that stood for so long, and was welcomed, was no failed try: the delays begin anew."""

MOVED_LASTING_SECONDS = 1.0
"""The same for one that was sent to another node."""

YIELDING_FACTOR = 4
"""How much longer than ``reconnect_longest`` a client waits that leaves the link to another."""

MAX_SENTENCES = 8
FIRST_SILENCE_SECONDS = 60.0
LONGEST_SILENCE_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class ClosedLink:
    """How a link ended that had been open for some ``seconds``.

    ``by_server`` is whether the other side said so first; the code may be this client's own.
    ``spread_seconds`` is what the welcome said; None where none came.
    """

    code: int | None
    reason: str
    by_server: bool
    spread_seconds: float | None
    seconds: float

    @property
    def was_welcomed(self) -> bool:
        """Whether the server had taken this machine."""
        return self.spread_seconds is not None


class ReconnectPolicy:
    """Decides about the next try to connect, from how the last one went.

    ``yields`` is whether the next hello is to leave the link to another client that has it.  A
    client that was taken over yields until it is welcomed.  From then on it is one like any other:
    else its own lost link, which the server has not noticed yet, would keep it out.  So the link
    changes hands when a client starts or loses it, and never because the other waits for it.

    ``clock`` is in seconds.
    """

    def __init__(self, longest_delay: float, clock: Callable[[], float]) -> None:
        self.yields = False
        self._longest_delay = longest_delay
        self._delays = reconnect_delays(longest_delay)
        self._log = TroubleLog(clock)

    def after_failure(self, sentence: str) -> float:
        """Say that a try has failed; return the seconds before the next."""
        delay = next(self._delays)
        self._log.tell(sentence, delay)
        return delay

    def after_link(self, closed: ClosedLink) -> float:
        """Say that a link has ended; return the seconds before the next try.

        Raises MustStopError where the server has said that there should be none.
        """
        if closed.by_server and says_stop(closed.code):
            raise MustStopError(
                f"the link was closed for good ({closed.code}): {foreign(closed.reason)}"
            )
        if closed.by_server and closed.code == CloseCode.TAKEN_OVER:
            return self._after_takeover(closed)
        delay = self._delay_after(closed)
        reason = foreign(closed.reason) or "no reason given"
        self._log.tell(f"link closed ({closed.code}: {reason})", delay)
        return delay

    def _after_takeover(self, closed: ClosedLink) -> float:
        if not self.yields or closed.was_welcomed:
            self.yields = True
            self._delays = reconnect_delays(YIELDING_FACTOR * self._longest_delay)
        delay = next(self._delays)
        self._log.tell(
            "another machine client with this token has the link, and this one waits until it is "
            f"free ({closed.code}: {foreign(closed.reason)})",
            delay,
        )
        return delay

    def _delay_after(self, closed: ClosedLink) -> float:
        """Lost links come back spread over the server's time; soon lost ones wait the longer.

        One that was sent to another node goes there at once, also when that is sent on in turn:
        nodes are replaced one after the other.
        """
        if self.yields and closed.was_welcomed:
            self.yields = False
            self._delays = reconnect_delays(self._longest_delay)
        is_moved = closed.by_server and closed.code == CloseCode.MOVED
        spread = MOVED_SECONDS if is_moved else closed.spread_seconds or 0.0
        lasting = MOVED_LASTING_SECONDS if is_moved else LASTING_SECONDS
        if closed.seconds < lasting or not closed.was_welcomed:
            return next(self._delays) + _up_to(spread)
        self._delays = reconnect_delays(self._longest_delay)
        self._log.clear()
        return _up_to(spread)


class TroubleLog:
    """Tells of each new trouble at once, and of one that goes on at growing intervals.

    A desktop that cannot reach its server for a week so writes some hundred lines, not a hundred
    thousand.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._sentences: set[str] = set()
        self._unsaid = 0
        self._silence = FIRST_SILENCE_SECONDS
        self._silent_until = 0.0

    def tell(self, sentence: str, delay: float) -> None:
        """Say what has happened, and in how many seconds the next try will be."""
        if not self._is_due(sentence):
            self._unsaid += 1
            return
        unsaid = f" ({self._unsaid} more tries since the last line)" if self._unsaid else ""
        logger.warning("%s; trying again in %.1f s%s", sentence, delay, unsaid)
        self._unsaid = 0

    def clear(self) -> None:
        """Begin anew: what comes next is another trouble."""
        self._sentences.clear()
        self._unsaid, self._silence, self._silent_until = 0, FIRST_SILENCE_SECONDS, 0.0

    def _is_due(self, sentence: str) -> bool:
        now = self._clock()
        if sentence not in self._sentences and len(self._sentences) < MAX_SENTENCES:
            self._sentences.add(sentence)
        elif now < self._silent_until:
            return False
        else:
            self._silence = min(2 * self._silence, LONGEST_SILENCE_SECONDS)
        self._silent_until = now + self._silence
        return True


def reconnect_delays(longest_delay: float) -> Generator[float, None, None]:
    """Seconds before each further try: growing up to a longest one, and random all through.

    A thousand machines that lose their server in the same moment must not come back in the same.
    """
    longest = min(FIRST_DELAY, longest_delay)
    while True:
        yield random.uniform(longest / 10, longest)  # noqa: S311 - spreads load, hides nothing
        longest = min(longest * 2, longest_delay)


def _up_to(seconds: float) -> float:
    return random.uniform(0, seconds)  # noqa: S311 - spreads load, hides nothing
