"""Pools and tags: what machines are found by, and put together under."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from schemas.http.queries import Page
from schemas.values.scalars import Fitting, Note, Storable
from schemas.values.strict import StrictModel
from schemas.values.times import Time

MOST_TAGS: Final = 32
"""Of one machine."""

MOST_POOLS_OF_MACHINE: Final = 32
MOST_POOLS: Final = 1000
"""Of one organization."""

MAX_NAME_CHARACTERS: Final = 64

Tag = Annotated[
    str,
    Fitting(
        rf"[^\s,]{{1,{MAX_NAME_CHARACTERS}}}",
        f"must be a word of 1 to {MAX_NAME_CHARACTERS} characters, without spaces and commas",
    ),
    Storable,
]
"""A word that machines are found by, such as ``till`` or ``floor-2``."""


def _each_once(items: list[str]) -> list[str]:
    return sorted(set(items))


Tags = Annotated[list[Tag], Field(max_length=MOST_TAGS), AfterValidator(_each_once)]
"""A machine's tags, each once, in order."""


def tags_note(tags: Iterable[str]) -> str:
    """What the audit notes of a machine that has got these tags."""
    return " ".join(tags) or "no tags"


PoolIds = Annotated[list[UUID], Field(max_length=MOST_POOLS_OF_MACHINE)]
"""The pools that a machine is in."""


def _no_id(name: str) -> str:
    """A list of machines is filtered by the names or the ids of pools, with commas between."""
    try:
        UUID(name)
    except ValueError:
        return name
    raise PydanticCustomError("pool_name", "must not look like an id")


PoolName = Annotated[
    str,
    Fitting(
        rf"(?! )[^,\x00-\x1f\x7f]{{1,{MAX_NAME_CHARACTERS}}}(?<! )",
        f"must be 1 to {MAX_NAME_CHARACTERS} characters without commas, and neither begin nor end "
        "with a space",
    ),
    AfterValidator(_no_id),
    Storable,
]
"""What people call a pool; no two of an organization have the same."""


OfflineAfter = Annotated[int, Field(strict=True, ge=1, le=86_400)]
"""Seconds that a machine may be away before webhooks are told."""


class NewPool(StrictModel):
    """The body of ``POST /v1/pools``."""

    name: PoolName
    description: Note | None = None
    offline_after: OfflineAfter | None = Field(
        None,
        description="Seconds that one of its machines may be away before webhooks are told; null: "
        "as the server's setting has it.  Of a machine in several pools the shortest counts.",
    )


class PoolChange(StrictModel):
    """The body of ``PATCH /v1/pools/{pool_id}``; what is left out stays."""

    name: PoolName | None = None
    description: Note | None = None
    offline_after: OfflineAfter | None = None


class PoolReference(BaseModel):
    """Which pool, for programs and for people."""

    id: UUID
    name: str


def references(names: Mapping[UUID, str]) -> list[PoolReference]:
    """Pools that have these ids and names, by name."""
    named = sorted(names.items(), key=lambda each: (each[1], each[0]))
    return [PoolReference(id=pool_id, name=name) for pool_id, name in named]


class Pool(PoolReference):
    """Machines that are looked after together; one may be in any number of pools."""

    description: str | None
    offline_after: int | None
    machines: int = Field(description="How many are in it.")
    created_at: Time
    created_by: str = Field(description="The name of the token that made it.")


class PoolPage(Page[Pool]):
    """A page of pools, by name."""
