from hashlib import sha256

from server.store.mongodb.database import Database
from server.store.trajectories.pictures import PictureStore
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, there

CONTENT = b"\x89PNG\r\n\x1a\n" + b"p" * 100


async def test_same_bytes_are_stored_once_for_each_organization(database: Database) -> None:
    pictures = PictureStore(database)
    made, is_new = await pictures.add(ORGANIZATION, "image/png", CONTENT)
    assert (made.id, is_new) == (sha256(CONTENT).hexdigest(), True)
    assert await pictures.add(ORGANIZATION, "image/png", CONTENT) == (made, False)
    assert await pictures.get(OTHER_ORGANIZATION, made.id) is None
    assert (await pictures.add(OTHER_ORGANIZATION, "image/png", CONTENT))[1]
    assert there(await pictures.get(ORGANIZATION, made.id)) == (made, CONTENT)
    assert await pictures.delete(ORGANIZATION, made.id)
    assert not await pictures.delete(ORGANIZATION, made.id)
    assert await pictures.get(OTHER_ORGANIZATION, made.id) is not None
