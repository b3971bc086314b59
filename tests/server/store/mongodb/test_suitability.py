"""What a MongoDB must be, and what is said, without a password, of one that cannot be used."""

from contextlib import closing
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest

from server.errors import StoreError, StoreUnavailable, StoreUnusable
from server.store.mongodb import suitability
from server.store.mongodb.database import Database
from server.store.mongodb.suitability import hosts_of
from tests.processes import free_port
from tests.standalone import standalone_mongod


async def refusal(uri: str, kind: type[StoreError]) -> str:
    """Why a MongoDB cannot be used."""
    with closing(Database(uri, "test_suitability")) as database, pytest.raises(kind) as caught:
        await database.check()
    assert "pass-word" not in str(caught.value)
    return str(caught.value)


async def unreached(monkeypatch: pytest.MonkeyPatch, uri: str, *words: str) -> str:
    """Why nobody is reached, in words in which these are.

    It is not known before how long a busy host takes to find out.
    """
    for seconds in (1.0, 4.0, 9.0):
        monkeypatch.setattr(suitability, "REACH_SECONDS", seconds)
        said = await refusal(uri, StoreUnavailable)
        if all(each in said for each in words):
            return said
    raise AssertionError(said)


async def test_host_that_is_not_known_or_refuses_is_named_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    port = free_port()
    uri = f"mongodb://somebody:pass-word@farhand.invalid,127.0.0.1:{port}/?replicaSet=x"
    said = await unreached(monkeypatch, uri, "Name or service not known", "Connection refused")
    assert f"does not answer at farhand.invalid,127.0.0.1:{port} (" in said
    assert "FARHAND_MONGODB_URI" in said
    assert "timeout" not in said.lower()


async def test_standalone_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with standalone_mongod(tmp_path) as place:
        said = await refusal(f"mongodb://{quote(place, safe='')}/", StoreUnusable)
    assert f"MongoDB at {place} must run as a replica set" in said
    assert "--replSet" in said


async def test_standalone_where_the_uri_names_a_replica_set_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with standalone_mongod(tmp_path) as place:
        uri = f"mongodb://{quote(place, safe='')}/?replicaSet=ours"
        await unreached(monkeypatch, uri, "no member of the replica set")


async def test_wrong_password_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with standalone_mongod(tmp_path, "--auth") as place:
        uri = f"mongodb://somebody:pass-word@{quote(place, safe='')}/"
        said = await refusal(uri, StoreUnusable)
    assert "refused the user or the password" in said
    assert "authSource" in said


async def test_missing_user_is_refused_where_one_is_needed(tmp_path: Path) -> None:
    with standalone_mongod(tmp_path, "--auth") as place:
        database = Database(f"mongodb://{quote(place, safe='')}/")
        with pytest.raises(StoreUnusable, match="role readWrite"):
            await database.check_access()
        database.close()


async def test_old_release_is_refused(mongodb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suitability, "OLDEST_MONGODB", (99, 1))
    said = await refusal(mongodb, StoreUnusable)
    assert said.endswith("is too old: Farhand needs 99.1 or later.")


async def test_usable_mongodb_is_of_the_same_time_on_the_same_host(mongodb: str) -> None:
    database = Database(mongodb, "test_suitability")
    await database.check()
    await database.check_access()
    assert abs(await database.clock_difference()) < timedelta(seconds=2)
    database.close()


@pytest.mark.parametrize(
    ("uri", "hosts"),
    [
        ("mongodb://a", "a"),
        ("mongodb://a:1,b:2/x?w=1", "a:1,b:2"),
        ("mongodb://user:pass-word@a:1/?replicaSet=x", "a:1"),
        ("mongodb+srv://user:pass-word@a.example", "a.example"),
        ("mongodb://%2Ftmp%2Fs.sock/", "/tmp/s.sock"),
        ("mongodb://user:pass/word@a/", "the hosts of its URI"),
        ("mongodb://user:1/pass-word@a/", "the hosts of its URI"),
    ],
)
def test_hosts_are_named_without_what_is_secret(uri: str, hosts: str) -> None:
    assert hosts_of(uri) == hosts
