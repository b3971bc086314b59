"""What a list of machines can be asked: which, in which order, how many of each state."""

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from schemas.http.queries import (
    NullableBool,
    NullableSearch,
    NullText,
    Page,
    PageQuery,
    Query,
    QueryBool,
)
from schemas.resources.machines import Machine, MachineState
from schemas.resources.pools import PoolReference

MAX_VALUES: Final = 100
"""Of one filter."""

MAX_WORDS: Final = 10
"""Of one search."""

MOST_COUNTED: Final = 50
"""Tags, and pools, of which a list says how many machines have them."""

_MAX_CHARACTERS: Final = 10_000

ShownState = MachineState | Literal["not_set_up"]
"""What a list is filtered by: a machine that has never connected is ``offline`` as well."""

STATES: Final = (*get_args(MachineState), "not_set_up", "in_trouble", "fine")


def _separated(value: Any) -> Any:
    """Values with commas between; nothing is none."""
    if not isinstance(value, str):
        return value
    if len(value) > _MAX_CHARACTERS:
        raise PydanticCustomError(
            "string_too_long",
            "must have at most {max_length} characters",
            {"max_length": _MAX_CHARACTERS},
        )
    values = frozenset(filter(None, (each.strip() for each in value.split(","))))
    if len(values) > MAX_VALUES:
        raise PydanticCustomError(
            "too_many_values", "must be at most {most} values", {"most": MAX_VALUES}
        )
    return values or None


def _states(value: Any) -> Any:
    chosen = _separated(value)
    if isinstance(chosen, frozenset) and not chosen <= set(STATES):
        raise PydanticCustomError(
            "machine_state", "must be one or more of {states}", {"states": ", ".join(STATES)}
        )
    return chosen


def _words(value: Any) -> Any:
    if isinstance(value, str) and len(value.split()) > MAX_WORDS:
        raise PydanticCustomError(
            "too_many_words", "must be at most {most} words", {"most": MAX_WORDS}
        )
    return value


_AS_TEXT: Final = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]})
Values = Annotated[frozenset[str] | None, BeforeValidator(_separated), NullText, _AS_TEXT]
States = Annotated[frozenset[str] | None, BeforeValidator(_states), NullText, _AS_TEXT]

MachineSort = Literal[
    "id",
    "-id",
    "name",
    "-name",
    "state",
    "-state",
    "created_at",
    "-created_at",
    "version",
    "-version",
]
"""What a list is sorted by, upwards, or downwards with the sign."""


class MachineFilter(Query):
    """Which machines are wanted: those that fit all that is given."""

    pool: Values = Field(
        None, description="In one of these pools, by name or id, with commas between."
    )
    tag: Values = Field(None, description="With one of these tags, with commas between.")
    state: States = Field(
        None,
        description=f"In one of these states, with commas between: {', '.join(STATES)}.  A machine "
        "that is not set up has never connected, and is offline as well.  In trouble are all "
        "others that are offline, those without input, and those whose screen should be seen and "
        "cannot; fine are all that remain.",
    )
    version: Values = Field(
        None, description="With one of these versions of the machine client, with commas between."
    )
    outdated: NullableBool = Field(
        None,
        description="true: with a machine client that is older than the server; false: others.",
    )
    search: Annotated[NullableSearch, BeforeValidator(_words)] = Field(
        None,
        description="Each of these words is somewhere in its name, its id, a tag, or the reason "
        f"for its state; at most {MAX_WORDS}.  Case does not matter.",
    )


class MachineQuery(PageQuery, MachineFilter):
    """The query of ``GET /v1/machines``."""

    sort: MachineSort = Field(
        "id",
        description="A minus is downwards.  state: those in trouble first, the latest of it above, "
        "then those that are paused, online, and not set up yet, by name.  Names and versions are "
        "compared without regard to case, digits in them as numbers; what has no version stands "
        "behind.",
    )
    counts: QueryBool = Field(
        False,
        description="true = also how many machines of each state, with each tag and in each pool "
        "fit the other filters.",
    )


class StateCounts(BaseModel):
    """How many machines are in each state."""

    online: int
    offline: int
    paused: int
    no_input: int
    not_set_up: int = Field(description="Of those that are offline.")
    in_trouble: int = Field(description="As the filter has it, whatever their state is.")
    fine: int = Field(description="Neither in trouble nor to be set up.")
    outdated: int = Field(description="Whose client is older than the server.")


class TagCount(BaseModel):
    """How many machines have a tag."""

    tag: str
    machines: int


class PoolCount(PoolReference):
    """How many machines are in a pool."""

    machines: int


class MachinePage(Page[Machine]):
    """A page of machines."""

    counts: StateCounts | None = Field(
        None,
        description="Of those that fit all filters but state; only where they were asked for.",
        exclude_if=lambda counts: counts is None,
    )
    tags: list[TagCount] | None = Field(
        None,
        description=f"Of those that fit all filters but tag, the {MOST_COUNTED} that most of them "
        "have, and those that the filter names; only where counts were asked for.",
        exclude_if=lambda tags: tags is None,
    )
    pools: list[PoolCount] | None = Field(
        None,
        description=f"Of those that fit all filters but pool, the {MOST_COUNTED} that most of them "
        "are in, and those that the filter names; only where counts were asked for.",
        exclude_if=lambda pools: pools is None,
    )
