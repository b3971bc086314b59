"""The replica set that the fault run strikes at: it survives what is done to it."""

import random
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pymongo
import pytest
from pymongo import WriteConcern
from pymongo.errors import InvalidOperation

from server.store.embedded_mongod import find_mongod
from tests.faults.history import Clock
from tests.faults.replica_set import (
    ELECTION_MILLISECONDS,
    HEARTBEAT_MILLISECONDS,
    Member,
    ReplicaSet,
)
from tests.faults.stalls import EVERY_SECONDS, StallWatch
from tests.faults.supervised_process import SupervisedProcess
from tests.processes import until
from tests.waiting import eventually


@pytest.fixture(scope="module")
def replica_set(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaSet]:
    with ReplicaSet.running(tmp_path_factory.mktemp("replica_set")) as replica_set:
        yield replica_set


@pytest.fixture
def primary(replica_set: ReplicaSet) -> Member:
    replica_set.wait_until_whole()
    # A member that is asked says nothing where it takes too long.
    return eventually(replica_set.primary, "one is primary")


def write_and_count(replica_set: ReplicaSet) -> int:
    """Write a document that a majority holds; how many there are then."""
    with pymongo.MongoClient[dict[str, Any]](replica_set.uri) as client:
        documents = client.test.get_collection(
            "documents", write_concern=WriteConcern("majority", j=True)
        )
        documents.insert_one({})
        return documents.count_documents({})


def another_is_primary(replica_set: ReplicaSet, before: Member) -> None:
    until(lambda: replica_set.primary() not in (None, before), "another member is primary")


def test_killed_primary_is_replaced_and_comes_back_with_everything(
    replica_set: ReplicaSet, primary: Member
) -> None:
    before = write_and_count(replica_set)
    primary.process.disable_restart()
    assert primary.process.kill()
    another_is_primary(replica_set, primary)
    assert write_and_count(replica_set) == before + 1
    primary.process.enable_restart()
    replica_set.wait_until_whole()
    assert write_and_count(replica_set) == before + 2
    assert -signal.SIGKILL in primary.process.exit_codes


def test_primary_that_stands_still_is_replaced_and_follows_when_it_wakes(
    replica_set: ReplicaSet, primary: Member
) -> None:
    clock = Clock()
    with closing(StallWatch(replica_set.uri, clock)) as watch:
        assert primary.process.signal(signal.SIGSTOP)
        try:
            until(lambda: primary.process.is_stopped, "the primary stands still")
            stopped_at = clock()
            another_is_primary(replica_set, primary)
            # The others wait for so long before they elect one, and may have heard it last a
            # heartbeat before.
            waited_seconds = (ELECTION_MILLISECONDS - HEARTBEAT_MILLISECONDS) / 1000
            assert watch.longest_since(stopped_at) > waited_seconds - 2 * EVERY_SECONDS
        finally:
            assert primary.process.signal(signal.SIGCONT)
        replica_set.wait_until_whole()
        assert not primary.process.is_stopped


def test_primary_steps_down_for_another(replica_set: ReplicaSet, primary: Member) -> None:
    until(replica_set.step_down, "the primary gives up its part")
    another_is_primary(replica_set, primary)


def test_secondary_killed_hinders_nobody(replica_set: ReplicaSet, primary: Member) -> None:
    secondary = eventually(lambda: replica_set.secondary(random.Random(1)), "one follows")
    assert secondary is not primary
    secondary.process.disable_restart()
    assert secondary.process.kill()
    assert write_and_count(replica_set) > 0
    assert eventually(replica_set.primary, "one is primary") is primary
    secondary.process.enable_restart()


def test_nothing_stays_open_of_a_member_that_cannot_be_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = Member(tmp_path, find_mongod())
    assert member.hello() == {}, "nobody has started it"

    def fail() -> None:
        raise AssertionError("could not be ended")

    monkeypatch.setattr(member.process, "close", fail)
    with pytest.raises(AssertionError, match="could not be ended"):
        member.close()
    with pytest.raises(InvalidOperation):
        member.command("ping")


def test_nothing_stays_open_where_a_member_cannot_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = []
    close = Member.close

    def noted(self: Member) -> None:
        closed.append(self)
        close(self)

    def fail(_self: SupervisedProcess) -> None:
        raise RuntimeError("no thread can be started")

    monkeypatch.setattr(Member, "close", noted)
    monkeypatch.setattr(SupervisedProcess, "start", fail)
    with pytest.raises(RuntimeError, match="no thread"), ReplicaSet.running(tmp_path):
        pass
    assert len(closed) == 3
