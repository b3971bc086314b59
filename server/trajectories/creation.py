"""What is made of what a request gives: new trajectories and workflows, duplicates, changes."""

from collections.abc import Container
from dataclasses import replace
from typing import Any, Final
from uuid import UUID, uuid4

from schemas.resources.trajectories import (
    MAX_NAME_CHARACTERS,
    ChangedTrajectory,
    ImportedTrajectory,
    NewTrajectory,
)
from schemas.resources.workflows import NewWorkflow
from schemas.steps.parameters import Parameters
from schemas.steps.reviews import Editor
from schemas.values.times import whole_milliseconds
from server.errors import WrongState
from server.store.times import now
from server.store.trajectories.documents import NO_VALUES, StoredTrajectory
from server.store.trajectories.reviews import OPEN_REVIEW
from server.store.trajectories.workflows import StoredWorkflow
from server.store.versions import first_version
from server.trajectories.contents import changed_hashes, is_other_content, with_hashes
from server.trajectories.reviewing import edited, with_author, withdrawn

_COPY_MARK: Final = " (copy)"


def new_workflow(organization_id: UUID, new: NewWorkflow) -> StoredWorkflow:
    """The workflow that is made now from what was given."""
    time = now()
    return StoredWorkflow(
        id=uuid4(),
        organization_id=organization_id,
        name=new.name,
        description=new.description,
        created_at=time,
        updated_at=time,
        version=first_version(time),
        input_schema=stored_schema(new.input_schema),
    )


def stored_schema(schema: Parameters | None) -> dict[str, Any] | None:
    """An input schema as a workflow keeps it."""
    return schema and {name: each.model_dump(mode="json") for name, each in schema.items()}


def new_trajectory(organization_id: UUID, by: Editor, new: NewTrajectory) -> StoredTrajectory:
    """The trajectory that is made now from what was given; an imported one has its own times.

    Nobody has reviewed it here, whatever it says of its approval.
    """
    time = now()
    own, created_at, updated_at = uuid4(), time, None
    was_approved = is_main = False
    if isinstance(new, ImportedTrajectory):
        was_approved, is_main = new.has_been_approved, new.is_main
        own = new.id or own
        updated_at = new.updated_at and whole_milliseconds(new.updated_at)
        # Nothing is updated before it is created, where only one of the two is known either.
        created_at = whole_milliseconds(new.created_at or min(created_at, updated_at or created_at))
    data, inputs = new.trajectory_data, new.original_input_values
    made = StoredTrajectory(
        id=own,
        organization_id=organization_id,
        user_id=by.user_id,
        workflow_id=new.workflow_id,
        run_id=new.run_id,
        name=new.name,
        description=new.description,
        is_approved=new.is_approved,
        is_generated=new.generated,
        step_count=new.step_count,
        trajectory_data=None if data is None else data.text,
        dimensions=new.dimensions.text,
        original_input_values=NO_VALUES if inputs is None else inputs.text,
        created_at=created_at,
        updated_at=updated_at or created_at,
        version=first_version(time),
        has_been_approved=was_approved or new.is_approved,
        is_main=is_main,
        authors=(by.author,),
    )
    return with_hashes(made)


def duplicate_of(original: StoredTrajectory, by: Editor, name: str | None) -> StoredTrajectory:
    """A copy with an id and times of its own, not approved, which shares the stored segments.

    The original's authors are the copy's as well, so that none of them can approve it.
    """
    time = now()
    return replace(
        original,
        id=uuid4(),
        user_id=by.user_id,
        name=marked_name(original.name, _COPY_MARK) if name is None else name,
        is_approved=False,
        has_been_approved=False,
        is_main=False,
        created_at=time,
        updated_at=time,
        version=first_version(time),
        own_segment=None,
        review=OPEN_REVIEW,
        authors=with_author(_known_authors(original), by),
    )


def _known_authors(original: StoredTrajectory) -> tuple[str, ...]:
    """The authors of an original; of one from before authors were kept, its user."""
    if original.authors or original.user_id is None:
        return original.authors
    return (f"user:{original.user_id}",)


def without_second_main(made: StoredTrajectory, mains: Container[UUID]) -> StoredTrajectory:
    """The same, and not the main one where its workflow is among those that have one."""
    return replace(made, is_main=made.is_main and made.workflow_id not in mains)


def changed_fields(
    before: StoredTrajectory, change: ChangedTrajectory, by: Editor, digest: bytes | None = None
) -> dict[str, Any]:
    """The fields of a StoredTrajectory that a change gives other values.

    Another content is no longer approved, unless the change says so; nothing that it says makes
    a review.  ``digest`` is that of the steps, where it becomes generated.  Raises WrongState where
    it would be updated before it was created.
    """
    fields: dict[str, Any] = {name: getattr(change, name) for name in change.model_fields_set}
    for name in ("dimensions", "original_input_values"):
        if name in fields:
            fields[name] = NO_VALUES if fields[name] is None else fields[name].text
    if is_other_content(before, fields):
        fields = {**edited(before, by), **fields}
        if fields.get("workflow_id", before.workflow_id) != before.workflow_id:
            # Another workflow has, or chooses, a main one of its own.
            fields.setdefault("is_main", False)
    if "is_approved" in fields:
        fields["has_been_approved"] = before.has_been_approved or fields["is_approved"]
        if not fields["is_approved"]:
            fields |= withdrawn(before, by)
    if "updated_at" in fields:
        fields["updated_at"] = whole_milliseconds(fields["updated_at"])
        if fields["updated_at"] < before.created_at:
            raise WrongState("updated_at must not be before its created_at")
    return fields | changed_hashes(before, fields, digest)


def marked_name(name: str | None, mark: str) -> str | None:
    """A name with a mark behind it, no longer than names may be; None where there is none."""
    return name and name[: MAX_NAME_CHARACTERS - len(mark)] + mark
