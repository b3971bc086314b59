"""Looks after the pictures of trajectories: says when they go, and removes them then.

One node at a time does a round, which does a bounded part of the work: what is left is the next
one's.  Wherever it ends in the middle, the next goes on.
"""

import asyncio
import logging
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from schemas.http.queries import PageQuery
from schemas.resources.stored_pictures import GoingTrajectory, PictureOutlook
from server.errors import StoreUnavailable
from server.store.picture_rounds import NO_ROUND, PictureRound, PictureRounds
from server.store.times import now
from server.store.trajectories.expiry import PictureExpiry
from server.store.trajectories.keeping import NOTICE
from server.store.trajectories.picture_room import PictureRoom

logger = logging.getLogger(__name__)

ROUND_SECONDS: Final = 60.0
MOST_REMOVED: Final = 2000
"""So many pictures are removed in a round, at most: a few seconds' work."""

TOLD_EVERY: Final = timedelta(days=1)
"""The log is told once a day what goes."""


class PictureKeeping:
    """``lifetime`` and ``most_bytes`` are what the settings say; None is no bound.

    ``removed`` and ``removed_bytes`` count what this node removed, ``size`` and ``going`` are what
    the last round of any node counted: bytes of pictures, and trajectories whose pictures go soon.
    """

    def __init__(
        self,
        rounds: PictureRounds,
        expiry: PictureExpiry,
        room: PictureRoom,
        node_id: UUID,
        *,
        lifetime: timedelta | None,
        most_bytes: int | None,
    ) -> None:
        self._rounds, self._expiry, self._room = rounds, expiry, room
        self._node_id = node_id
        self._lifetime = lifetime
        self._most_bytes = most_bytes
        self.removed = self.removed_bytes = self.size = self.going = 0

    async def run(self) -> None:
        """Do a round again and again, for ever."""
        while True:
            try:
                await self.round()
            except StoreUnavailable as error:
                logger.warning("pictures are not looked after for now: %s", error)
            await asyncio.sleep(ROUND_SECONDS)

    async def round(self) -> None:
        """Do one round, unless another node is at it."""
        if await self._rounds.take(self._node_id):
            await self._rounds.leave(self._node_id, await self._done(await self._rounds.last()))
        last = await self._rounds.last()
        self.size, self.going = last.size, last.going

    async def _done(self, last: PictureRound) -> PictureRound:
        """What a round leaves, once it is done."""
        lifetime = None if self._lifetime is None else self._lifetime.total_seconds()
        if last.lifetime not in (lifetime, NO_ROUND):
            await self._room.reckon(self._lifetime)
        if expired := await self._expiry.expire_due():
            logger.info("the pictures of %d trajectories have expired", expired)
        removed = await self._expiry.remove(MOST_REMOVED)
        place = last.place
        if self._lifetime is not None:
            place, swept = await self._expiry.sweep(place, self._lifetime)
            removed.pictures += swept.pictures
            removed.size += swept.size
        self._count(removed.pictures, removed.size)
        sizes = await self._room.sizes()
        for organization_id, size in sizes.items():
            await self._make_room(organization_id, size)
        going = await self._room.number_going(now() + NOTICE)
        told_at = self._tell(going, last.told_at)
        return replace(
            last,
            lifetime=lifetime,
            place=place,
            told_at=told_at,
            size=sum(sizes.values()),
            going=sum(going.values()),
        )

    def _count(self, pictures: int, size: int) -> None:
        self.removed += pictures
        self.removed_bytes += size
        if pictures:
            logger.info("%d pictures were removed, of %d bytes together", pictures, size)

    async def _make_room(self, organization_id: UUID, size: int) -> None:
        if self._most_bytes is None or size <= self._most_bytes:
            return
        missing = await self._room.announce(organization_id, size - self._most_bytes)
        if missing:
            logger.warning(
                "organization=%s has %d bytes of pictures, %d more than picture_storage, of which "
                "%d stay: they belong to approved trajectories, or to too many others at once",
                organization_id,
                size,
                size - self._most_bytes,
                missing,
            )

    def _tell(self, going: Mapping[UUID, int], told_at: datetime | None) -> datetime | None:
        """Tell the log what goes, once a day; when it was told."""
        moment = now()
        if not going or (told_at is not None and told_at > moment - TOLD_EVERY):
            return told_at
        for organization_id, number in going.items():
            logger.warning(
                "organization=%s pictures of %d trajectories go within %d days: farhand trajectory "
                "pictures lists them",
                organization_id,
                number,
                NOTICE.days,
            )
        return moment

    async def outlook(
        self,
        organization_id: UUID,
        within: timedelta,
        page: PageQuery,
        machine_ids: Collection[str] | None,
    ) -> PictureOutlook:
        """What is kept, and whose pictures go within that time, the next ones first."""
        found, total = await self._room.going(
            organization_id,
            now() + within,
            skip=page.skip,
            limit=page.limit,
            within=machine_ids,
        )
        return PictureOutlook(
            lifetime=None if self._lifetime is None else self._lifetime.total_seconds(),
            most_bytes=self._most_bytes,
            bytes=await self._room.size(organization_id),
            items=[GoingTrajectory(**each._asdict()) for each in found],
            total=total,
            skip=page.skip,
            limit=page.limit,
        )
