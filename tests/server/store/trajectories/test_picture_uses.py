import asyncio

from server.store.mongodb.database import Database
from server.store.mongodb.documents import scoped_id
from server.store.trajectories.documents import StoredTrajectory
from server.store.trajectories.picture_uses import PictureUses
from tests.kept_pictures import Shelf
from tests.store import ORGANIZATION


async def test_picture_that_somebody_begins_to_refer_to_stays(database: Database) -> None:
    """A transaction that is under way while a round looks: whoever is first, nothing is lost."""
    shelf = Shelf(database)
    picture = await shelf.picture(1)
    made = await shelf.trajectory()
    await shelf.age()
    async with await database.session() as session:
        session.start_transaction()
        await PictureUses(database, session).add(ORGANIZATION, made.id, [picture])
        keeping = shelf.keeping()
        going = asyncio.get_running_loop().create_task(keeping.round())
        await asyncio.wait({going}, timeout=0.3)
        await session.commit_transaction()
    await going
    assert await shelf.there(picture) == [True]


async def test_uses_follow_the_steps(database: Database) -> None:
    shelf = Shelf(database)
    first, second, third = [await shelf.picture(number) for number in range(3)]
    made, copy = await shelf.trajectory(first, second), await shelf.trajectory()
    uses = PictureUses(database)

    async def named(of: StoredTrajectory) -> set[str]:
        own = scoped_id(ORGANIZATION, of.id)
        return {use.picture[16:].hex() async for use in uses.of(own)}

    assert await named(made) == {first, second}
    await uses.copy(ORGANIZATION, made.id, copy.id)
    await uses.keep(ORGANIZATION, made.id, [second, third])
    assert (await named(made), await named(copy)) == ({second, third}, {first, second})


async def test_use_of_what_was_never_stored_ends_with_its_picture(database: Database) -> None:
    shelf = Shelf(database)
    picture, made = await shelf.picture(1), await shelf.trajectory()
    await PictureUses(database).add(ORGANIZATION, made.id, [picture])
    await database.collection("trajectories").delete_many({})
    await shelf.age()
    keeping = shelf.keeping()
    await keeping.round()
    # Its trajectory may still be on its way into the database.
    assert await shelf.there(picture) == [True]
    await shelf.age_uses()
    await keeping.round()
    assert await shelf.there(picture) == [False]
