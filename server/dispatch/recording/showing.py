"""Which pictures a step of a recording has, and what is blacked out on them."""

import asyncio
from collections.abc import Sequence
from typing import Final

from schemas.link.picture_frames import Picture
from schemas.values.pictures import Region
from server.dispatch.recording.before_and_after import Elements
from server.dispatch.recording.drafts import Draft
from server.dispatch.recording.fields import Covers, covers_of, fields_of, place_of_field
from server.dispatch.recording.frames import Frames
from server.dispatch.recording.painting.blackening import blackened
from server.dispatch.recording.painting.uncovering import uncovered

Shown = tuple[Picture | None, Picture | None]
"""How the screen looked before and after a step."""

NOT_SHOWN: Final[Shown] = (None, None)

_UNKNOWN: Final = (None, None)

_Covered = tuple[Picture, tuple[Picture, ...], tuple[int, int]]
"""A picture, earlier ones, and a place with the pointer on it."""


class Showing:
    """Chooses the pictures of the steps of a recording, in their order.

    What a person said is secret stays blacked out for as long as its field is on the screen.
    Where nothing tells where it is, there are no pictures until that person says that what comes
    now is no secret any more.  It begins so, ``is_blind``, where a person said it before.
    """

    def __init__(self, frames: Frames, *, is_blind: bool = False) -> None:
        self._frames = frames
        self._fields: set[str] = set()
        self._is_blind = is_blind
        self._typed_at = 0
        # What was uncovered last, and what of it came.
        self._uncovered: tuple[_Covered, Picture] | None = None

    def is_shown(self, draft: Draft) -> None:
        """A step is over: what was on the screen before it typed something is not shown later."""
        if not draft.by_mouse:
            self._typed_at = max(self._typed_at, draft.ended)

    def learn(self, draft: Draft, *, is_secret: bool) -> None:
        """What a person said is secret is hidden from now on, also where its step is not shown.

        It may be there in part where an input failed, or nobody knows what became of it.
        """
        if not draft.is_said_secret:
            # Of a gap nobody said anything.
            self._is_blind &= draft.is_gap
        elif is_secret or draft.is_gap:
            named = fields_of(draft)
            self._fields |= named
            # Of a window alone it would not be known later where in it the text is, and whether.
            self._is_blind |= not named or covers_of(draft) == _UNKNOWN

    def needs_look(self, draft: Draft, *, is_secret: bool) -> bool:
        """Whether it is still to be known where something secret is, after a step."""
        last = draft.last_around
        if not (is_secret or self._fields) or last is None:
            return False
        return last.after is None and not last.is_over

    async def of(self, draft: Draft, cause: int, until: int | None, *, is_secret: bool) -> Shown:
        """The screen as a step found it and as it was then, at ``until``, if it is known.

        Something was done last at ``cause`` before it.
        """
        covers = self._covers(draft, is_secret=is_secret)
        before = self._frames.at(draft.began, cause, draft.before)
        after = None if until is None else self._frames.at(until, draft.ended)
        if before is not None:
            before = await self._without_pointer(before, draft, cause)
        return await _covered(before, covers[0]), await _covered(after, covers[1])

    async def _without_pointer(self, shown: Picture, draft: Draft, cause: int) -> Picture:
        """How the screen looked, with what the pointer covered, if that is known."""
        pointer, bare = self._frames.pointer_on(shown), self._frames.bare(cause, draft.began)
        if pointer is not None and bare is not None:
            if _is_as_good(bare, shown):
                return bare
            found = await self._uncover(shown, [bare], pointer)
            if found is not shown:
                return found
        if draft.place is None:
            return shown
        earlier = self._frames.uncovered(shown, draft.place, self._typed_at)
        return await self._uncover(shown, earlier, draft.place) if earlier else shown

    async def _uncover(
        self, shown: Picture, earlier: Sequence[Picture], place: tuple[int, int]
    ) -> Picture:
        """See `uncovered`; once for steps that find the same screen, as it takes a while."""
        asked = shown, tuple(earlier), place
        if self._uncovered is None or self._uncovered[0] != asked:
            self._uncovered = asked, await asyncio.to_thread(uncovered, *asked)
        return self._uncovered[1]

    def _covers(self, draft: Draft, *, is_secret: bool) -> tuple[Covers | None, Covers | None]:
        """What is blacked out on both pictures; None is that one must not be kept."""
        self.learn(draft, is_secret=is_secret)
        if self._is_blind:
            return _UNKNOWN
        own: tuple[Covers | None, Covers | None] = covers_of(draft) if is_secret else ((), ())
        others = self._of_fields(draft)
        return _both(own[0], others[0]), _both(own[1], others[1])

    def _of_fields(self, draft: Draft) -> tuple[Covers | None, Covers | None]:
        """Where the fields are that a person said are secret."""
        if not self._fields:
            return (), ()
        first, last = draft.around, draft.last_around
        before = self._places(first.before) if first and first.is_before_fresh else None
        after = self._places(last.after) if last and last.is_after_fresh else None
        both = (*(before or ()), *(after or ()))
        return None if before is None else both, None if after is None else both

    def _places(self, seen: Elements | None) -> Covers | None:
        if seen is None:
            return None
        places = [place_of_field(seen, seen[ref]) for ref in self._fields if ref in seen]
        known = tuple(each for each in places if each is not None)
        return known if len(known) == len(places) else None


def _is_as_good(bare: Picture, shown: Picture) -> bool:
    """Whether one without the pointer shows all that another one does, as it was then or later."""
    is_alike = (bare.size, bare.region) == (shown.size, shown.region)
    return is_alike and bare.captured_at >= shown.captured_at


def _both(one: Covers | None, other: Covers | None) -> Covers | None:
    return None if one is None or other is None else one + other


async def _covered(picture: Picture | None, covers: Sequence[Region] | None) -> Picture | None:
    if picture is None or covers is None:
        return None
    return await asyncio.to_thread(blackened, picture, covers) if covers else picture
