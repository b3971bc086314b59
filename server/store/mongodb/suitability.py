"""Whether Farhand can work with a MongoDB: that it is reached, takes writes, and what it is.

Only where it cannot are its hosts named, which an operator wants to know: never the user or the
password of its URI.
"""

import asyncio
import re
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import ReadPreference
from pymongo.errors import ConfigurationError, ConnectionFailure

from server.errors import StoreUnavailable, StoreUnusable

OLDEST_MONGODB: Final = (6, 0)

REACH_SECONDS: Final = 2.5
"""For any member to answer: one that is not there is told soon, before a person gives up."""

Client = AsyncIOMotorClient[dict[str, Any]]
Operation = Callable[[], AbstractAsyncContextManager[None]]

_REMEDY = "look at mongodb_uri (FARHAND_MONGODB_URI), and whether mongod runs there"


async def check_mongodb(client: Client, hosts: str, operation: Operation) -> None:
    """Raise StoreUnavailable or StoreUnusable, with what to do, unless Farhand can work with it.

    ``hosts`` are how messages name it; ``operation`` bounds what is asked, and translates errors.
    """
    async with operation():
        await _reach(client, hosts)
    try:
        async with operation():
            state = await client.admin.command("hello")
            build = await client.admin.command("buildInfo")
    except StoreUnavailable:
        raise StoreUnavailable(
            f"MongoDB at {hosts} answers, but no member takes writes: see what rs.status() says in "
            "mongosh, and whether most of the members run."
        ) from None
    if "setName" not in state:
        raise StoreUnusable(
            f"MongoDB at {hosts} must run as a replica set, be it one of a single member: start "
            "mongod with --replSet NAME and run rs.initiate() once in mongosh."
        )
    if tuple(build["versionArray"][:2]) < OLDEST_MONGODB:
        oldest = ".".join(map(str, OLDEST_MONGODB))
        raise StoreUnusable(
            f"MongoDB {build['version']} is too old: Farhand needs {oldest} or later."
        )


async def clock_difference(client: Client) -> timedelta:
    """How far MongoDB's clock is ahead of this host's; half a round trip may be missing."""
    before = datetime.now(UTC)
    state = await client.admin.command("hello")
    here = before + (datetime.now(UTC) - before) / 2
    there: datetime = state["localTime"]
    return there.replace(tzinfo=UTC) - here


def hosts_of(uri: str) -> str:
    """The hosts that a MongoDB URI names, for a message: nothing that can be a password."""
    rest = uri.partition("://")[2]
    authority, _, behind = rest.partition("/")
    if "@" in behind:
        # The password holds what should be escaped; which part is which, nobody knows.
        return "the hosts of its URI"
    return authority.rpartition("@")[2].partition("?")[0].replace("%2F", "/").replace("%2f", "/")


async def _reach(client: Client, hosts: str) -> None:
    """Raise StoreUnavailable where no member answers; one that does need not take writes."""
    try:
        async with asyncio.timeout(REACH_SECONDS):
            await client.admin.command("ping", read_preference=ReadPreference.NEAREST)
    except ConfigurationError as error:
        raise StoreUnusable(f"MongoDB at {hosts} cannot be used ({error}): {_REMEDY}.") from None
    except (TimeoutError, ConnectionFailure):
        # Any: Motor's stub takes the driver's property for a method.
        topology: Any = client.topology_description
        members = topology.server_descriptions().values()
        if any(member.is_server_type_known for member in members):
            return
        raise StoreUnavailable(_unreached(hosts, members)) from None


def _unreached(hosts: str, members: Collection[Any]) -> str:
    if not members:
        # The driver forgets members that are not of the set which the URI names.
        return (
            f"What answers at {hosts} is no member of the replica set that the MongoDB URI names: "
            "look at replicaSet in mongodb_uri (FARHAND_MONGODB_URI), and whether mongod runs with "
            "that --replSet."
        )
    return f"MongoDB does not answer at {hosts} ({'; '.join(map(_reason, members))}): {_REMEDY}."


def _reason(member: Any) -> str:
    """Why a member is not reached, in the driver's words without its own settings."""
    if member.error is None:
        return "no answer in time"
    said = re.sub(r" \(configured timeouts:[^)]*\)", "", str(member.error))
    host = ":".join(str(part) for part in member.address if part is not None)
    return re.sub(r"\[Errno -?\d+\] ", "", said).removeprefix(f"{host}: ")
