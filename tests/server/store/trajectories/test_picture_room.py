from uuid import UUID

from server.store.mongodb.database import Database
from server.store.times import now
from server.store.trajectories.keeping import NOTICE
from server.store.trajectories.picture_room import PictureRoom
from tests.kept_pictures import Shelf
from tests.store import ORGANIZATION, OTHER_ORGANIZATION

KIB = 1024


async def test_sizes_are_counted_for_each_organization(database: Database) -> None:
    shelf, room = Shelf(database), PictureRoom(database)
    await shelf.picture(1, KIB)
    await shelf.picture(2, 2 * KIB)
    await shelf.pictures.add(OTHER_ORGANIZATION, "image/png", b"p" * 7)
    assert await room.sizes() == {ORGANIZATION: 3 * KIB, OTHER_ORGANIZATION: 7}
    assert await room.size(ORGANIZATION) == 3 * KIB
    assert await room.size(UUID(int=1)) == 0


async def test_no_more_is_announced_than_has_to_go(database: Database) -> None:
    shelf, room = Shelf(database), PictureRoom(database)
    made = [await shelf.trajectory(await shelf.picture(each, KIB)) for each in range(4)]
    for excess, missing, announced in (
        (1, 0, 1),
        (KIB, 0, 1),
        (KIB + 1, 0, 2),
        (9 * KIB, 5 * KIB, 4),
    ):
        assert await room.announce(ORGANIZATION, excess) == missing
        soon = now() + NOTICE
        found, total = await room.going(ORGANIZATION, soon, skip=0, limit=10, within=None)
        assert total == announced
        assert [each.id for each in found] == [each.id for each in made[:announced]]
    assert await room.number_going(now() + NOTICE) == {ORGANIZATION: 4}
    assert await room.announce(OTHER_ORGANIZATION, 5) == 5


async def test_those_on_machines_out_of_reach_are_left_out(database: Database) -> None:
    shelf, room = Shelf(database), PictureRoom(database)
    made = [await shelf.trajectory(await shelf.picture(each)) for each in range(2)]
    trajectories = database.collection("trajectories")
    await trajectories.update_one({"name": None}, {"$set": {"machine_id": "desk"}})
    await room.announce(ORGANIZATION, 10**9)
    for within, number in ((None, 2), (["desk"], 2), (["other"], 1)):
        soon = now() + NOTICE
        _, total = await room.going(ORGANIZATION, soon, skip=0, limit=10, within=within)
        assert total == number, (within, made)
