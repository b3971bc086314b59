"""One change of many machines, answered machine by machine."""

from typing import Annotated, Final, Literal, Self
from uuid import UUID

from pydantic import BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.resources.actions import Action
from schemas.resources.machine_lists import MachineFilter
from schemas.resources.machines import PauseReason
from schemas.resources.pools import Tags
from schemas.values.scalars import MachineId
from schemas.values.strict import StrictModel
from schemas.values.times import Time

MOST_MACHINES: Final = 1000
"""In one request."""

BulkAction = Literal[
    "pause", "resume", "tag", "untag", "add_to_pool", "remove_from_pool", "rotate", "remove"
]

AUDITED: Final[dict[BulkAction, Action]] = {
    "pause": "machine.paused",
    "resume": "machine.resumed",
    "tag": "machine.tagged",
    "untag": "machine.tagged",
    "add_to_pool": "machine.pooled",
    "remove_from_pool": "machine.unpooled",
    "remove": "machine.removed",
}
"""What the audit calls each action; a token that is rotated stands there once it has changed."""

LABELLING: Final[frozenset[BulkAction]] = frozenset(
    {"tag", "untag", "add_to_pool", "remove_from_pool"}
)
"""Actions that change tags and pools."""

_GOES_WITH: Final[dict[str, tuple[BulkAction, ...]]] = {
    "tags": ("tag", "untag"),
    "pool_id": ("add_to_pool", "remove_from_pool"),
    "pause_reason": ("pause",),
    "pause_until": ("pause",),
}
_NEEDED: Final = ("tags", "pool_id")


class BulkChange(StrictModel):
    """The body of ``POST /v1/machines/bulk``: which machines, and what becomes of each."""

    machine_ids: Annotated[
        list[MachineId] | None, Field(min_length=1, max_length=MOST_MACHINES)
    ] = Field(None, description="Which machines; or else filter.")
    filter: MachineFilter | None = Field(
        None,
        description="Those that a list with these parameters has at this moment; an empty one is "
        f"all.  Where it finds more than {MOST_MACHINES}, none is changed.",
    )
    action: BulkAction
    tags: Tags | None = Field(None, description="For tag and untag.", min_length=1)
    pool_id: UUID | None = Field(None, description="For add_to_pool and remove_from_pool.")
    pause_reason: PauseReason | None = Field(None, description="For pause.")
    pause_until: Time | None = Field(None, description="For pause; at most 30 days from now.")

    @model_validator(mode="after")
    def _names_machines_once(self) -> Self:
        if (self.machine_ids is None) == (self.filter is None):
            raise PydanticCustomError("machines", "name machine_ids or a filter, and not both")
        return self

    @model_validator(mode="after")
    def _has_what_its_action_needs(self) -> Self:
        for field, actions in _GOES_WITH.items():
            is_given, fits = getattr(self, field) is not None, self.action in actions
            if is_given and not fits:
                raise PydanticCustomError(
                    "not_for_action",
                    "{field} goes with {actions}",
                    {"field": field, "actions": " and ".join(actions)},
                )
            if fits and not is_given and field in _NEEDED:
                raise PydanticCustomError(
                    "missing_for_action",
                    "{action} needs {field}",
                    {"action": self.action, "field": field},
                )
        return self


BulkStatus = Literal["done", "not_found", "failed"]


class BulkItem(BaseModel):
    """What became of one machine."""

    machine_id: str
    status: BulkStatus = Field(
        description="not_found: there is no such machine.  failed: nothing was changed, or, where "
        "the detail says that the database did not answer, perhaps."
    )
    detail: str | None = Field(None, description="What was wrong, for a person.")


class BulkResult(BaseModel):
    """What became of each machine, in the order in which they were named or found."""

    items: list[BulkItem]
    done: int
    failed: int = Field(description="Those that were not found among them.")
