"""Secrets that a real database's nodes seal: opened by who has the key, and by nobody else."""

from uuid import uuid4

import pymongo
import pytest

from server.secrets.sealing import Sealing, SecretKeyError
from server.secrets.vault import SealedError, Vault
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.secret_keys import SecretKeyStore

FIRST, SECOND = b"1" * 32, b"2" * 32
SECRETS = {"password": f"canary{uuid4().hex}"}


def sealing(database: Database, *keys: bytes) -> Sealing:
    return Sealing(Vault(keys) if keys else None, SecretKeyStore(database))


async def test_database_has_the_id_of_the_key_and_neither_the_key_nor_a_secret(
    database: Database, database_name: str, mongodb: str
) -> None:
    run = uuid4()
    sealed = await sealing(database, FIRST).seal(run, SECRETS)
    assert sealing(database, FIRST).opened(run, sealed) == SECRETS
    with pymongo.MongoClient[Document](mongodb, uuidRepresentation="standard") as client:
        stored = client[database_name]
        dump = str([[*stored[name].find()] for name in stored.list_collection_names()])
    assert sealed.key_id in dump
    for secret in (*SECRETS, *SECRETS.values(), FIRST.decode()):
        assert secret not in dump + repr(sealed) + str(sealed.content)


async def test_node_with_another_key_is_refused_once_there_is_a_secret(database: Database) -> None:
    await sealing(database, SECOND).check()
    await sealing(database, FIRST).seal(uuid4(), SECRETS)
    await sealing(database, FIRST).check()
    await sealing(database, SECOND, FIRST).check()
    with pytest.raises(SecretKeyError, match="give this node the file that the others have"):
        await sealing(database, SECOND).check()
    with pytest.raises(SecretKeyError, match="give this node the file that the others have"):
        await sealing(database, SECOND).seal(uuid4(), SECRETS)
    with pytest.raises(SecretKeyError, match="give all of them a secret_key_file"):
        await sealing(database).check()


async def test_key_is_rotated_without_losing_what_was_sealed(database: Database) -> None:
    run = uuid4()
    before = await sealing(database, FIRST).seal(run, SECRETS)
    after = await sealing(database, SECOND, FIRST).seal(run, SECRETS)
    both = sealing(database, SECOND, FIRST)
    assert both.opened(run, before) == both.opened(run, after) == SECRETS
    await sealing(database, SECOND).check()
    with pytest.raises(SealedError, match="which is not here"):
        sealing(database, SECOND).opened(run, before)
    with pytest.raises(SecretKeyError):
        await sealing(database, FIRST).check()


async def test_without_a_key_nothing_is_sealed_or_opened(database: Database) -> None:
    with pytest.raises(SecretKeyError, match="give all of them a secret_key_file"):
        await sealing(database).seal(uuid4(), SECRETS)
    run = uuid4()
    with pytest.raises(SealedError, match="give all of them a secret_key_file"):
        sealing(database).opened(run, Vault([FIRST]).seal(run, SECRETS))
