"""The states of a trajectory, and every change between them.

=========== =========== ===================== ===================================================
is_generated is_approved called                what may change
=========== =========== ===================== ===================================================
false       false       pending generation    steps are appended; with a step at least it becomes
                                              generated
true        false       generated             it becomes approved; or pending again
true        true        approved              it becomes generated again, or, with both flags in
                                              one request, pending
false       true        (from an import only) as pending; the approval can be withdrawn
=========== =========== ===================== ===================================================

What else is asked for is refused; to set a flag to what it is already is always allowed, and all
that is no state changes in every state: another content is not approved any more
(``reviewing.py``).  What is created or imported is kept as it was said to be, as it was in this
state somewhere already; ``is_approved`` lets nothing run, which a review alone does.
"""

from schemas.resources.trajectories import ChangedTrajectory
from server.store.trajectories.documents import StoredTrajectory


def refused_change(trajectory: StoredTrajectory, change: ChangedTrajectory) -> str | None:
    """Why its state does not allow this change, as a sentence; None where it does."""
    given = change.model_fields_set
    generated = change.is_generated if "is_generated" in given else trajectory.is_generated
    approved = change.is_approved if "is_approved" in given else trajectory.is_approved
    begins_approval = approved and not trajectory.is_approved
    ends_generation = generated and not trajectory.is_generated
    reopens = trajectory.is_generated and not generated
    if ends_generation and not trajectory.step_count:
        return "it has no step yet: only a trajectory with steps becomes generated"
    if begins_approval and not generated:
        return "it is pending generation: only what is generated can be approved"
    if reopens and approved:
        return "it is approved: withdraw the approval (is_approved: false) to make it pending"
    return None


def refused_steps(trajectory: StoredTrajectory) -> str | None:
    """Why its state does not allow further steps, as a sentence; None where it does."""
    if not trajectory.is_generated:
        return None
    first = "withdraw the approval and " if trajectory.is_approved else ""
    return (
        "it is generated: steps are appended only while it is pending generation; "
        f"{first}set is_generated to false first"
    )
