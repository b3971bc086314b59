"""Until when the pictures of a trajectory are kept, and that this is told a while before they go.

What is stored with a trajectory is a promise: its pictures go then and not before, unless somebody
changes it meanwhile, from which the time is counted anew, or approves it.  What is approved can be
run, and is found on the screen by its pictures: they stay for as long as it is approved.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from server.store.times import now
from server.store.trajectories.documents import StoredTrajectory

NOTICE: Final = timedelta(days=7)
"""No picture goes that was not said to go for so long."""

LATEST: Final = datetime(9999, 12, 31, tzinfo=UTC)
"""Pictures are kept no longer than there are dates."""

_REFERENCE: Final = re.compile(rb'"([0-9a-f]{64})"')


def pictures_in(texts: Iterable[bytes | memoryview]) -> set[str]:
    """The ids of pictures that the text of steps names, and of what only looks like one."""
    return {found.decode() for text in texts for found in _REFERENCE.findall(text)}


def with_pictures(trajectory: StoredTrajectory, lifetime: timedelta | None) -> StoredTrajectory:
    """A new trajectory that knows whether it has pictures, and until when they are kept.

    ``lifetime`` is how long they are kept after the last change; None is for ever.
    """
    has_pictures = trajectory.has_pictures or bool(pictures_in(trajectory.inline_steps))
    told = replace(trajectory, has_pictures=has_pictures)
    return replace(told, pictures_until=pictures_until(told, lifetime))


def pictures_until(trajectory: StoredTrajectory, lifetime: timedelta | None) -> datetime | None:
    """Until when its pictures are kept by their age; None is for ever, and where it has none."""
    is_kept = not trajectory.has_pictures or trajectory.review.state == "approved"
    if is_kept or lifetime is None:
        return None
    if trajectory.updated_at > LATEST - lifetime:
        return LATEST
    return max(trajectory.updated_at + lifetime, now() + NOTICE)
