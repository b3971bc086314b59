from uuid import uuid4

from server.store.mongodb.database import Database
from server.store.picture_rounds import NO_ROUND, PictureRound, PictureRounds
from server.store.times import now
from tests.kept_pictures import Shelf


async def test_one_node_at_a_time_does_a_round_and_another_after_its_end(
    database: Database,
) -> None:
    shelf = Shelf(database)
    picture = await shelf.picture(1)
    await shelf.age()
    rounds, dead = PictureRounds(database), uuid4()
    assert await rounds.take(dead)
    assert await rounds.take(dead)
    living = shelf.keeping()
    await living.round()
    assert await shelf.there(picture) == [True]
    await database.collection("rounds").update_one({}, {"$set": {"until": now()}})
    await living.round()
    assert await shelf.there(picture) == [False]
    # Who had it before writes nothing any more.
    await rounds.leave(dead, PictureRound(size=77))
    assert (await rounds.last()).size == 0


async def test_what_a_round_left_is_there_for_the_next(database: Database) -> None:
    rounds, node = PictureRounds(database), uuid4()
    assert (await rounds.last()).lifetime == NO_ROUND
    left = PictureRound(lifetime=5.0, place=b"place", told_at=now(), size=3, going=2)
    assert await rounds.take(node)
    await rounds.leave(node, left)
    assert await rounds.last() == left
    assert await rounds.take(uuid4())
