"""The newest pictures of a machine's screen, and which of them shows it as it was at a moment.

While they come, a machine sends a picture whenever its screen has changed, so that the last one
before a moment shows the screen then, unless something had just been done to it.  Times are
milliseconds since 1970.
"""

from collections import deque
from collections.abc import Iterable
from typing import Final

from schemas.link.picture_frames import Picture
from schemas.link.screen_options import LiveOptions

FRESH: Final = 150
"""A picture is of a moment that is so little later, and an older one where nothing changed since:
so long it takes at most until a change is in one."""

SETTLED: Final = 300
"""After an input; its picture is the last one by then."""

LIVE: Final = LiveOptions(width=None, height=None, quality=70, rate=8)

COVERED: Final = 48
"""Pixels from a place, in each direction, within which a pointer may cover what is there."""

MOST_PLACES: Final = 512
"""Of the pointer, the newest."""

MOST_BARE: Final = 4
"""Pictures without the pointer, the newest."""

MOST_KEPT: Final = 32
MOST_BYTES: Final = 24 * 1024 * 1024


class Frames:
    """The pictures of one machine, the newest last; bounded in number and in bytes."""

    def __init__(self) -> None:
        self._kept: deque[Picture] = deque()
        self._bytes = 0
        self._ended_at: int | None = None
        self._pointer: deque[tuple[int, int, int]] = deque(maxlen=MOST_PLACES)
        self._bare: deque[Picture] = deque(maxlen=MOST_BARE)

    def arrived(self, picture: Picture) -> None:
        """There is a new one."""
        if self._ended_at is not None:
            # How the screen looked in between is not known.
            self._kept.clear()
            self._bare.clear()
            self._bytes, self._ended_at = 0, None
        self._kept.append(picture)
        self._bytes += len(picture.content)
        while len(self._kept) > 1 and (len(self._kept) > MOST_KEPT or self._bytes > MOST_BYTES):
            self._bytes -= len(self._kept.popleft().content)

    def ended(self, at: int) -> None:
        """None come for now: how the screen looks from then on is not known."""
        if self._ended_at is None:
            self._ended_at = at

    @property
    def newest(self) -> Picture | None:
        """The last one that came, if they come."""
        return self._kept[-1] if self._kept and self._ended_at is None else None

    def at(self, moment: int, cause: int, earlier: Picture | None = None) -> Picture | None:
        """The screen as it was at a moment, where something was last done to it at ``cause``.

        ``earlier`` is one of before, which may not be kept any more.  None where there is none, or
        the screen was just changing.
        """
        if self._ended_at is not None and moment > self._ended_at:
            return None
        found = next((each for each in reversed(self._kept) if each.captured_at <= moment), None)
        if found is None:
            found = earlier if self._kept else None
        if found is None or moment - found.captured_at <= FRESH or moment - cause >= FRESH:
            return found
        return None if self.changed(moment, moment + FRESH) else found

    def pointer_passed(self, places: Iterable[tuple[int, int]], moment: int) -> None:
        """The pointer, which is drawn into the pictures, was put to these places by then."""
        self._pointer.extend((moment, x, y) for x, y in places)

    def arrived_bare(self, picture: Picture) -> None:
        """There is one without the pointer, as it looked between two inputs."""
        self._bare.append(picture)

    def bare(self, after: int, until: int) -> Picture | None:
        """The newest one without the pointer of the time in between, if there is one."""
        those = (each for each in reversed(self._bare) if after <= each.captured_at <= until)
        return next(those, None)

    def pointer_on(self, shown: Picture) -> tuple[int, int] | None:
        """Where the pointer is on a picture, as far as is known."""
        places = ((x, y) for at, x, y in reversed(self._pointer) if at <= shown.captured_at + FRESH)
        return next(places, None)

    def uncovered(self, shown: Picture, place: tuple[int, int], since: int) -> list[Picture]:
        """Earlier pictures on which the pointer was elsewhere than at a place, the newest first.

        There is none where it was elsewhere on the one that is ``shown`` as well.
        """
        if not self._was_covered(place, shown.captured_at):
            return []
        return [
            each
            for each in reversed(self._kept)
            if since <= each.captured_at < shown.captured_at
            and not self._was_covered(place, each.captured_at)
        ]

    def _was_covered(self, place: tuple[int, int], moment: int) -> bool:
        """Whether the pointer was near a place, as far as is known, at about a moment."""
        for at, x, y in reversed(self._pointer):
            if at > moment + FRESH:
                continue
            if max(abs(x - place[0]), abs(y - place[1])) <= COVERED:
                return True
            if at < moment - FRESH:
                break
        return False

    def changed(self, after: int, until: int) -> bool:
        """Whether the screen changed in between."""
        return any(after < each.captured_at <= until for each in self._kept)
