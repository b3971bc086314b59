"""The administrator's token of a new installation, whatever happens at its first starts."""

import asyncio
import fcntl
import os
from pathlib import Path

import pytest

from server import first_administrator
from server.data_directory import ADMIN_TOKEN_FILE
from server.first_administrator import CANDIDATE_FILE, LOCK_FILE
from server.identity.authentication import new_secret, secret_hash
from server.store.identity.tokens import TokenStore
from server.tasks import Tasks
from tests.service import PATIENCE_SECONDS, running_server, stores_of
from tests.store import there


async def test_of_two_nodes_that_start_at_once_one_makes_the_token(
    mongodb: str, database_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, real = asyncio.Barrier(2), TokenStore.any

    async def both_have_looked(store: TokenStore) -> bool:
        there_is_any = await real(store)
        await both.wait()
        return there_is_any

    monkeypatch.setattr(TokenStore, "any", both_have_looked)
    directories = [tmp_path / "one", tmp_path / "two"]
    one, two = (running_server(mongodb, each, database_name) for each in directories)
    servers = await asyncio.gather(one.__aenter__(), two.__aenter__())
    try:
        tokens = servers[0].services.operation.database.collection("tokens")
        assert await tokens.count_documents({}) == 1
        (file,) = [file for each in directories for file in each.glob(f"{ADMIN_TOKEN_FILE}*")]
        assert file.name == ADMIN_TOKEN_FILE
        known = stores_of(servers[0]).tokens.find_by_hash(secret_hash(file.read_text().strip()))
        assert there(await known).name == "administrator"
    finally:
        for each in (one, two):
            await each.__aexit__(None, None, None)


async def test_who_shares_a_directory_waits_until_the_others_token_is_made(
    mongodb: str, database_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = asyncio.Event()
    real = first_administrator._is_locked

    def is_locked(lock: int) -> bool:
        if not (found := real(lock)):
            waits.set()
        return found

    monkeypatch.setattr(first_administrator, "_is_locked", is_locked)
    tasks = Tasks()
    other = os.open(tmp_path / LOCK_FILE, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(other, fcntl.LOCK_EX)
        node = running_server(mongodb, tmp_path, database_name)
        starting = tasks.start(node.__aenter__(), "start")
        await asyncio.wait_for(waits.wait(), PATIENCE_SECONDS)
        assert not (tmp_path / CANDIDATE_FILE).exists()
    finally:
        os.close(other)
    try:
        assert (await starting).services
        assert (tmp_path / ADMIN_TOKEN_FILE).exists()
    finally:
        await node.__aexit__(None, None, None)


async def test_start_that_was_cut_short_after_the_token_was_stored_is_made_up_for(
    mongodb: str, database_name: str, tmp_path: Path, io_loop: object
) -> None:
    async with running_server(mongodb, tmp_path, database_name):
        (tmp_path / ADMIN_TOKEN_FILE).rename(tmp_path / CANDIDATE_FILE)
    async with running_server(mongodb, tmp_path, database_name) as server:
        secret = (tmp_path / ADMIN_TOKEN_FILE).read_text().strip()
        assert await stores_of(server).tokens.find_by_hash(secret_hash(secret))
        assert not (tmp_path / CANDIDATE_FILE).exists()


async def test_secret_that_was_never_stored_is_thrown_away(
    mongodb: str, database_name: str, tmp_path: Path, io_loop: object
) -> None:
    async with running_server(mongodb, tmp_path, database_name):
        secret = (tmp_path / ADMIN_TOKEN_FILE).read_text()
    (tmp_path / CANDIDATE_FILE).write_text(new_secret())
    async with running_server(mongodb, tmp_path, database_name):
        assert not (tmp_path / CANDIDATE_FILE).exists()
        assert (tmp_path / ADMIN_TOKEN_FILE).read_text() == secret
