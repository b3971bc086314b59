"""What an installation has once."""

import asyncio

from server.store.mongodb.database import Database
from server.store.mongodb.installation import Installation
from tests.store import opened


async def test_of_many_nodes_one_makes_the_secret_for_all(
    database: Database, mongodb: str, database_name: str
) -> None:
    others = [Database(mongodb, database_name) for _ in range(4)]
    try:
        nodes = [database, *others] * 4
        opened_by = await asyncio.gather(*(Installation.open(node) for node in nodes))
    finally:
        for other in others:
            other.close()
    (secret,) = {each.secret for each in opened_by}
    assert len(secret) == 32
    assert (await Installation.open(database)).secret == secret


async def test_two_installations_have_two_secrets(mongodb: str, database_name: str) -> None:
    async with (
        opened(mongodb, database_name) as one,
        opened(mongodb, f"{database_name}_other") as other,
    ):
        assert (await Installation.open(one)).secret != (await Installation.open(other)).secret
