"""Links end with their tokens."""

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

import pytest

from schemas.link.close_codes import CloseCode
from server.errors import StoreUnavailable
from server.machines import token_watch
from server.store.identity.tokens import TokenStore
from server.store.times import now
from tests.service import Service, until

SETTINGS = [{"token_check": 0.05}]


class Asked:
    """Counts what is asked of the tokens."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.all = self.lately = 0
        self.is_away = False
        usable, revoked_within = TokenStore.usable, TokenStore.revoked_within

        async def counted_usable(store: TokenStore, token_ids: Iterable[UUID]) -> set[UUID]:
            self.all += 1
            return await usable(store, token_ids)

        async def counted_revoked(store: TokenStore, seconds: float) -> set[UUID]:
            self.lately += 1
            if self.is_away:
                raise StoreUnavailable("It is away.")
            return await revoked_within(store, seconds)

        monkeypatch.setattr(TokenStore, "usable", counted_usable)
        monkeypatch.setattr(TokenStore, "revoked_within", counted_revoked)


@pytest.mark.parametrize("settings", SETTINGS)
async def test_only_what_was_revoked_lately_is_asked_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(monkeypatch)
    machine, other = await service.new_machine(), await service.new_machine("desk-2")
    async with machine.connected() as link, other.connected():
        await until(lambda: asked.lately >= 2)
        assert asked.all == 1
        await service.stores.tokens.revoke_of_machine(service.organization_id, "desk-1")
        assert (await link.closed())[0] == CloseCode.TOKEN_REVOKED
        assert not (await other.until_live()).is_over
    assert asked.all == 1


@pytest.mark.parametrize("settings", SETTINGS)
async def test_all_are_asked_for_after_a_long_silence_of_the_database(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if it had been revoked before what is looked at.
    monkeypatch.setattr(token_watch, "LOOKING_BACK_SECONDS", -1.0)
    asked = Asked(monkeypatch)
    usable, longest = TokenStore.usable, token_watch.LONGEST_PAUSE_SECONDS

    async def usable_after_silence(store: TokenStore, token_ids: Iterable[UUID]) -> set[UUID]:
        # From here on a host that stands still is no silence of the database.
        monkeypatch.setattr(token_watch, "LONGEST_PAUSE_SECONDS", longest)
        return await usable(store, token_ids)

    monkeypatch.setattr(TokenStore, "usable", usable_after_silence)
    async with service.joined() as (_, link):
        await until(lambda: asked.lately >= 2)
        # Not before: an answer that takes long on a busy host is no silence.
        monkeypatch.setattr(token_watch, "LONGEST_PAUSE_SECONDS", 0.2)
        asked.is_away = True
        await service.stores.tokens.revoke_of_machine(service.organization_id, "desk-1")
        assert (await link.closed())[0] == CloseCode.TOKEN_REVOKED
    assert asked.all == 2


@pytest.mark.parametrize("settings", SETTINGS)
async def test_all_are_asked_for_now_and_then(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_watch, "ALL_SECONDS", 0.3)
    monkeypatch.setattr(token_watch, "AT_ONCE", 1)
    asked = Asked(monkeypatch)
    machine, other = await service.new_machine(), await service.new_machine("desk-2")
    async with machine.connected(), other.connected():
        await until(lambda: asked.all >= 5 and asked.lately > 0)


async def test_link_ends_with_a_token_that_has_an_end(service: Service) -> None:
    async with service.joined() as (machine, websocket):
        link = await machine.until_live()
        assert link._token_ends is None
        link._token_ends = round((now() + timedelta(seconds=0.3)).timestamp() * 1000)
        link.schedule()
        code, reason = await websocket.closed()
        assert (code, reason) == (
            CloseCode.TOKEN_REVOKED,
            "the token was revoked or has expired",
        )
