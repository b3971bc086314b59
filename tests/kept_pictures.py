"""Trajectories with pictures, whose time has come or has not, and who looks after them."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from schemas.steps.reviews import Editor, NewReview
from server.store.mongodb.database import Database
from server.store.mongodb.documents import scoped_id
from server.store.picture_rounds import PictureRounds
from server.store.times import now
from server.store.trajectories.documents import StoredTrajectory
from server.store.trajectories.expiry import PictureExpiry
from server.store.trajectories.picture_room import PictureRoom
from server.store.trajectories.picture_uses import scoped_picture
from server.store.trajectories.pictures import PictureStore
from server.trajectories.keeping import PictureKeeping
from server.trajectories.reviewing import Reviews
from tests.store import ORGANIZATION, there
from tests.trajectories import TrajectoryLibrary, imported

LIFETIME = timedelta(days=90)
LONG_AGO = timedelta(days=200)
REVIEWER = Editor(token_id=UUID(int=9), token_name="reviewer", user_id=None)


def content_of(number: int, size: int = 1000) -> bytes:
    """A picture that no other number has."""
    return b"\x89PNG\r\n\x1a\n" + str(number).encode().ljust(size - 8, b"p")


class Shelf:
    """The pictures of one organization."""

    def __init__(self, database: Database, lifetime: timedelta | None = LIFETIME) -> None:
        database.picture_lifetime = lifetime
        self.database = database
        self.library = TrajectoryLibrary(database)
        self.pictures = PictureStore(database)

    def keeping(self, most_bytes: int | None = None, node_id: UUID | None = None) -> PictureKeeping:
        """Who looks after them, on a node of its own."""
        return PictureKeeping(
            PictureRounds(self.database),
            PictureExpiry(self.database),
            PictureRoom(self.database),
            node_id or uuid4(),
            lifetime=self.database.picture_lifetime,
            most_bytes=most_bytes,
        )

    async def picture(self, number: int, size: int = 1000) -> str:
        """A new picture's id."""
        content = content_of(number, size)
        return (await self.pictures.add(ORGANIZATION, "image/png", content))[0].id

    async def trajectory(self, *picture_ids: str, **fields: Any) -> StoredTrajectory:
        """One whose steps have these pictures."""
        steps = [step_with(each) for each in picture_ids]
        return await self.library.create(
            ORGANIZATION, None, imported(trajectory_data=steps, **fields)
        )

    async def approve(self, made: StoredTrajectory) -> None:
        """Approve it as it is."""
        present = await self.present(made)
        new = {"decision": "approve", "content_hash": (present.content_hash or b"").hex()}
        reviews = Reviews(self.library.transactions, authors_may_approve=False)
        await reviews.decide(ORGANIZATION, REVIEWER, made.id, NewReview.model_validate(new))

    async def present(self, made: StoredTrajectory) -> StoredTrajectory:
        """It as it is now."""
        return there(await self.library.get(ORGANIZATION, made.id))

    async def age(self, *picture_ids: str, by: timedelta = LONG_AGO) -> None:
        """Have pictures be used last so long ago; all, where none is named."""
        ids = [scoped_picture(ORGANIZATION, each) for each in picture_ids]
        wanted = {"_id": {"$in": ids}} if ids else {}
        await self.database.collection("pictures").update_many(
            wanted, {"$set": {"used_at": now() - by}}
        )

    async def age_uses(self) -> None:
        """Have all references to pictures be old."""
        await self.database.collection("picture_uses").update_many(
            {}, {"$set": {"at": now() - LONG_AGO}}
        )

    async def end_time(self, *made: StoredTrajectory) -> None:
        """Have the time of their pictures come, where they have one."""
        ids = [scoped_id(ORGANIZATION, each.id) for each in made]
        await self.database.collection("trajectories").update_many(
            {"_id": {"$in": ids}, "pictures_until": {"$type": "date"}},
            {"$set": {"pictures_until": now() - timedelta(seconds=1)}},
        )

    async def there(self, *picture_ids: str) -> list[bool]:
        """Which of these are there."""
        found = await self.pictures.there(ORGANIZATION, picture_ids)
        return [each in found for each in picture_ids]


def step_with(picture_id: str) -> dict[str, Any]:
    """A step that has a picture."""
    return {"operation": "mouse.click", "body": {"x": 1, "y": 2}, "picture": picture_id}
