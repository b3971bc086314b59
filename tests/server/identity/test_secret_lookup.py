import asyncio
import time
from collections.abc import Mapping, Sequence
from types import SimpleNamespace

import pytest

from schemas.resources.tokens import Scope
from server.errors import StoreUnavailable
from server.identity import secret_lookup as lookups
from server.identity.authentication import new_secret
from server.identity.secret_lookup import FREE_ATTEMPTS, FailedAttempts, SecretLookup
from server.store.identity.tokens import StoredToken
from server.tasks import Tasks
from tests.clock import Clock
from tests.service import Service

GUESSER, NEIGHBOUR = "192.0.2.1", "192.0.2.2"
GOOD = b"good"


class Asked:
    """What is looked up, and in which queries."""

    def __init__(self) -> None:
        self.queries: list[list[bytes]] = []
        self.error: Exception | None = None

    async def find(self, digests: Sequence[bytes]) -> Mapping[bytes, str]:
        self.queries.append(list(digests))
        if self.error is not None:
            raise self.error
        return {GOOD: "somebody"} if GOOD in digests else {}


def exhausted() -> FailedAttempts:
    failed_attempts = FailedAttempts()
    for _ in range(FREE_ATTEMPTS):
        failed_attempts.record(GUESSER)
    return failed_attempts


def test_guesses_are_counted_for_each_address_and_forgiven(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("server.identity.secret_lookup.time.monotonic", lambda: now)
    failed_attempts = exhausted()
    assert failed_attempts.are_too_many(GUESSER)
    assert not failed_attempts.are_too_many(NEIGHBOUR)
    now += 2
    assert not failed_attempts.are_too_many(GUESSER)
    failed_attempts.record(GUESSER)
    failed_attempts.record(GUESSER)
    assert failed_attempts.are_too_many(GUESSER)


def test_only_so_many_addresses_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookups, "MAX_ADDRESSES", 3)
    failed_attempts = FailedAttempts()
    for number in range(10):
        failed_attempts.record(str(number))
    assert len(failed_attempts._spent) == 3


async def test_many_unknown_secrets_of_an_address_are_one_query() -> None:
    asked, background = Asked(), Tasks()
    lookup = SecretLookup(asked.find, exhausted(), background)
    secrets = [b"%d" % number for number in range(500)]
    answers = await asyncio.gather(
        *(lookup.find(secret, GUESSER, was_valid=False) for secret in [*secrets, GOOD, *secrets])
    )
    assert len(asked.queries) == 1
    assert len(asked.queries[0]) == 501
    assert [each for each in answers if each] == ["somebody"]


async def test_secret_that_was_good_and_other_addresses_do_not_wait() -> None:
    asked, background = Asked(), Tasks()
    lookup = SecretLookup(asked.find, exhausted(), background)
    waiting = background.start(lookup.find(b"guess", GUESSER, was_valid=False), "a guess")
    await asyncio.sleep(0)
    assert await lookup.find(GOOD, GUESSER, was_valid=True) == "somebody"
    assert await lookup.find(b"typo", NEIGHBOUR, was_valid=False) is None
    assert asked.queries == [[GOOD], [b"typo"]]
    assert await waiting is None
    assert asked.queries[2:] == [[b"guess"]]


async def test_database_that_does_not_answer_is_told_to_all_and_later_ones_are_answered() -> None:
    asked, background = Asked(), Tasks()
    lookup = SecretLookup(asked.find, exhausted(), background)
    asked.error = StoreUnavailable("away")
    finding = [lookup.find(name, GUESSER, was_valid=False) for name in (b"a", b"b", b"a")]
    failed = await asyncio.gather(*finding, return_exceptions=True)
    assert [type(error) for error in failed] == [StoreUnavailable] * 3
    asked.error = None
    assert await lookup.find(GOOD, GUESSER, was_valid=False) == "somebody"


async def test_flood_of_bad_tokens_costs_few_queries_and_no_good_token_is_refused(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookup = service.server.services.access.authenticator._lookup
    find, queries = lookup._find, list[Sequence[bytes]]()

    async def counted(hashes: Sequence[bytes]) -> Mapping[bytes, StoredToken]:
        queries.append(hashes)
        return await find(hashes)

    monkeypatch.setattr(lookup, "_find", counted)
    fresh = await service.new_token(Scope.MACHINES_READ)
    bad = [service.get("/v1/machines", token=new_secret()) for _ in range(300)]
    good = [service.get("/v1/machines", token=fresh) for _ in range(5)]
    replies = await asyncio.gather(*bad, *good)
    assert [reply.status for reply in replies] == [401] * 300 + [200] * 5
    assert sum(len(hashes) for hashes in queries) > 300
    assert len(queries) < 100


async def test_token_that_was_guessed_before_it_was_made_works_at_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = new_secret()
    for _ in range(2 * FREE_ATTEMPTS):
        assert (await service.get("/v1/machines", token=secret)).status == 401
    monkeypatch.setattr("server.identity.tokens.new_secret", lambda: secret)
    assert await service.new_token(Scope.MACHINES_READ) == secret
    assert (await service.get("/v1/machines", token=secret)).status == 200


async def test_sessions_that_are_guessed_are_bounded_as_well(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    clock.now = time.monotonic()  # It stands still: nothing is forgiven meanwhile.
    monkeypatch.setattr(lookups, "time", SimpleNamespace(monotonic=clock))
    replies = [
        await service.get("/v1/machines", token=None, headers={"Cookie": f"farhand_session=s{n}"})
        for n in range(2 * FREE_ATTEMPTS)
    ]
    assert {reply.status for reply in replies} == {401}
    lookup = service.server.services.access.sessions._lookup
    assert lookup._failed_attempts.are_too_many("127.0.0.1")
