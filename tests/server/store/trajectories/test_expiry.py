import asyncio
from datetime import timedelta

from server.store.mongodb.database import Database
from server.store.mongodb.documents import scoped_id
from server.store.trajectories.expiry import FIRST, PictureExpiry
from server.store.trajectories.picture_uses import PictureUses
from tests.holding_up import held_up
from tests.kept_pictures import LIFETIME, Shelf
from tests.store import ORGANIZATION


async def test_removal_goes_on_where_it_was_cut_off(database: Database) -> None:
    shelf = Shelf(database)
    pictures = [await shelf.picture(number) for number in range(5)]
    made = await shelf.trajectory(*pictures)
    await shelf.age()
    await shelf.end_time(made)
    subject = PictureExpiry(database)
    assert await subject.expire_due() == 1
    assert await subject.expire_due() == 0
    removed = [(await subject.remove(2)).pictures for _ in range(4)]
    assert removed == [2, 2, 1, 0]
    assert not any(await shelf.there(*pictures))
    assert await database.collection("picture_removals").count_documents({}) == 0


async def test_what_a_killed_round_had_removed_makes_no_difference(database: Database) -> None:
    shelf = Shelf(database)
    pictures = [await shelf.picture(number) for number in range(3)]
    made = await shelf.trajectory(*pictures)
    await shelf.age()
    await shelf.end_time(made)
    subject = PictureExpiry(database)
    await subject.expire_due()
    # As after a kill between a picture and the word that nobody refers to it.
    await shelf.pictures.delete(ORGANIZATION, pictures[0])
    assert (await subject.remove(100)).pictures == 2
    assert await database.collection("picture_uses").count_documents({}) == 0


async def test_trajectory_that_was_changed_when_its_time_came_keeps_its_pictures(
    database: Database,
) -> None:
    shelf = Shelf(database)
    picture = await shelf.picture(1)
    made = await shelf.trajectory(picture)
    await shelf.age()
    await shelf.end_time(made)
    subject = PictureExpiry(database)
    await subject.expire_due()
    # It has others by the time that those are removed: what it names now is not touched.
    await database.collection("trajectories").update_one({}, {"$set": {"has_pictures": True}})
    assert (await subject.remove(100)).pictures == 0
    assert await shelf.there(picture) == [True]


async def test_use_that_is_written_anew_while_its_trajectorys_pictures_go_stays(
    database: Database,
) -> None:
    shelf = Shelf(database)
    pictures = [await shelf.picture(number) for number in range(3)]
    made = await shelf.trajectory(*pictures)
    # Another one needs them, too: so they stay, and only the uses would end.
    await shelf.trajectory(*pictures)
    await shelf.age()
    await shelf.age_uses()
    await shelf.end_time(made)
    subject, uses = PictureExpiry(database), PictureUses(database)
    await subject.expire_due()
    with held_up(PictureExpiry, "_end") as ending:
        removing = asyncio.get_running_loop().create_task(subject.remove(100))
        await ending.is_asked.wait()
        await uses.keep(ORGANIZATION, made.id, pictures[1:])
        ending.may_begin.set()
        assert (await removing).pictures == 0
    own = scoped_id(ORGANIZATION, made.id)
    assert {use.picture[16:].hex() async for use in uses.of(own)} == {*pictures[1:]}


async def test_sweep_goes_through_all_in_parts(database: Database) -> None:
    shelf = Shelf(database)
    pictures = [await shelf.picture(number) for number in range(5)]
    await shelf.age(*pictures[:4])
    await shelf.age(pictures[4], by=timedelta(days=89))
    subject, place, removed, parts = PictureExpiry(database), FIRST, 0, 0
    while True:
        place, part = await subject.sweep(place, LIFETIME, most=2)
        removed, parts = removed + part.pictures, parts + 1
        if place == FIRST:
            break
    assert (removed, parts) == (4, 3)
    assert await shelf.there(*pictures) == [False] * 4 + [True]
