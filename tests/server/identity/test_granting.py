"""No chain of steps leads to a right, or to an end, beyond those of the token it began with.

Each walk begins with some token, takes steps at random with whatever it has got so far, each a
request to a real server, and looks at what is stored after every one.
"""

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from schemas.resources.tokens import ADMINISTRATOR_SCOPES, Role, Scope
from schemas.values.times import format_time
from server.identity.authentication import secret_hash
from server.store.identity.tokens import StoredToken
from tests.service import Reply, Service
from tests.store import there

WALKS = 15
STEPS = 40
MAKING = (Scope.TOKENS_WRITE, Scope.ORGANIZATIONS_WRITE, Scope.MACHINES_WRITE)


@dataclass
class Walk:
    """One holder's way; ``tokens`` and ``organizations`` are what was come by so far."""

    service: Service
    start: StoredToken
    choose: random.Random
    tokens: list[str]
    organizations: list[UUID]
    strangers: list[UUID]
    made: list[StoredToken] = field(default_factory=list)

    async def step(self) -> Reply:
        """Try something with one of the tokens, mostly one that was made lately."""
        token = self.choose.choice(self.tokens[-3:] + self.tokens)
        match self.choose.choice(["token", "token", "token", "organization", "machine"]):
            case "organization":
                reply = await self.service.post("/v1/organizations", {"name": "o"}, token=token)
                if reply.status == 201:
                    self.organizations.append(UUID(reply.json["id"]))
            case "machine":
                reply = await self.service.post("/v1/machines", {}, token=token)
                if reply.status == 201:
                    await self.take(reply.json["token"]["token"])
            case _:
                reply = await self.service.post("/v1/tokens", self.wish(), token=token)
                if reply.status == 201:
                    await self.take(reply.json["token"])
        return reply

    def wish(self) -> dict[str, Any]:
        """A token that one would like to have."""
        modest = [scope for scope in ADMINISTRATOR_SCOPES if scope in self.start.scopes]
        bold = [*modest, self.choose.choice(ADMINISTRATOR_SCOPES)]
        scopes = self.choose.choice([modest, modest[1:], bold, list(ADMINISTRATOR_SCOPES)])
        body: dict[str, Any] = {"name": "w", "scopes": scopes}
        if self.choose.random() < 0.15:
            body = {"name": "w", "role": self.choose.choice([*Role])}
        if self.choose.random() < 0.5:
            organizations = self.organizations + self.strangers
            body["organization_id"] = str(self.choose.choice(organizations))
        if self.choose.random() < 0.5:
            end = self.start.expires_at or datetime.now(UTC)
            minutes = self.choose.choice([-1, 0, 1, 100])
            body["expires_at"] = format_time(end + timedelta(minutes=minutes))
        return body

    async def take(self, secret: str) -> None:
        """Keep a token that was made, which must be nothing beyond the start."""
        stored = there(await self.service.stores.tokens.find_by_hash(secret_hash(secret)))
        self.check(stored)
        self.made.append(stored)
        self.tokens.append(secret)

    def check(self, token: StoredToken) -> None:
        """Nothing beyond the start."""
        assert token.organization_id in self.organizations
        if token.scopes == (Scope.MACHINE_CONNECT,):
            assert Scope.MACHINES_WRITE in self.start.scopes
            return
        assert set(token.scopes) <= set(self.start.scopes)
        if self.start.expires_at is not None:
            assert token.expires_at is not None
            assert token.expires_at <= self.start.expires_at


async def begun(service: Service, choose: random.Random) -> Walk:
    """A walk that begins with some token of an organization that others lie around."""
    of = await service.branch()
    beside, below = await service.branch(), await of.branch()
    chosen = set(choose.sample(ADMINISTRATOR_SCOPES, 3)) | set(MAKING[: choose.randint(1, 3)])
    end = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    secret = await of.new_token(*chosen, expires_at=choose.choice([end, None]))
    start = there(await service.stores.tokens.find_by_hash(secret_hash(secret)))
    organizations = [of.organization_id, below.organization_id]
    strangers = [service.organization_id, beside.organization_id]
    return Walk(of, start, choose, [secret], organizations, strangers)


async def test_no_chain_of_steps_leads_beyond_its_start(service: Service) -> None:
    made = refused = crossed = 0
    for seed in range(WALKS):
        walk = await begun(service, random.Random(seed))
        for _ in range(STEPS):
            reply = await walk.step()
            assert reply.status in (201, 403, 404, 422), reply.body
            refused += reply.status != 201
        made += len(walk.made)
        crossed += sum(token.organization_id != walk.start.organization_id for token in walk.made)
    # The walks are worth something: they got far, met refusals, and went into other organizations.
    assert min(made, refused, crossed) > WALKS
