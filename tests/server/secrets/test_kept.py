"""Secrets in a real database: opened by who has the key, and found by nobody who looks."""

from uuid import uuid4

import pymongo
import pytest

from server.secrets.kept import KeptSecrets, SecretKeyError
from server.secrets.vault import SealedError, Vault
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.sealed_secrets import SealedSecretStore

FIRST, SECOND = b"1" * 32, b"2" * 32
CANARY = f"canary{uuid4().hex}"


def kept(database: Database, *keys: bytes) -> KeptSecrets:
    return KeptSecrets(Vault(keys) if keys else None, SealedSecretStore(database))


async def test_secret_is_nowhere_in_the_database_and_gone_once_erased(
    database: Database, database_name: str, mongodb: str
) -> None:
    secrets, run = kept(database, FIRST), uuid4()
    await secrets.keep(run, {"password": CANARY})
    assert await kept(database, FIRST).opened(run) == {"password": CANARY}
    with pymongo.MongoClient[Document](mongodb, uuidRepresentation="standard") as client:
        stored = client[database_name]
        dump = str([[*stored[name].find()] for name in stored.list_collection_names()])
    assert run.hex in dump.replace("-", "")
    for secret in (CANARY, "password", FIRST.decode()):
        assert secret not in dump
    await secrets.erase(run)
    assert await secrets.opened(run) == {}


async def test_node_with_another_key_is_refused_once_there_is_a_secret(database: Database) -> None:
    await kept(database, SECOND).check()
    await kept(database, FIRST).keep(uuid4(), {"password": CANARY})
    await kept(database, FIRST).check()
    await kept(database, SECOND, FIRST).check()
    with pytest.raises(SecretKeyError, match="give this node the file that the others have"):
        await kept(database, SECOND).check()
    with pytest.raises(SecretKeyError, match="give this node the file that the others have"):
        await kept(database, SECOND).keep(uuid4(), {"password": CANARY})
    with pytest.raises(SecretKeyError, match="give all of them a secret_key_file"):
        await kept(database).check()


async def test_key_is_rotated_without_losing_what_was_kept(database: Database) -> None:
    before, after = uuid4(), uuid4()
    await kept(database, FIRST).keep(before, {"password": CANARY})
    await kept(database, SECOND, FIRST).keep(after, {"password": CANARY})
    both = kept(database, SECOND, FIRST)
    assert await both.opened(before) == await both.opened(after) == {"password": CANARY}
    await kept(database, SECOND).check()
    with pytest.raises(SealedError, match="which is not here"):
        await kept(database, SECOND).opened(before)
    with pytest.raises(SecretKeyError):
        await kept(database, FIRST).check()


async def test_without_a_key_nothing_is_kept(database: Database) -> None:
    with pytest.raises(SecretKeyError, match="give all of them a secret_key_file"):
        await kept(database).keep(uuid4(), {"password": CANARY})
    assert await kept(database).opened(uuid4()) == {}
