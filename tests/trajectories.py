"""Trajectories for tests: as they are stored, sent and imported."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from schemas.resources.trajectories import ImportedTrajectory
from server.store.trajectories.documents import StoredTrajectory
from tests.store import ORGANIZATION

WORKFLOW = UUID("00000000-0000-4000-8000-00000000000c")
NOW = datetime(2024, 5, 6, 7, 8, 9, 123000, tzinfo=UTC)


def stored(**fields: Any) -> StoredTrajectory:
    """A trajectory as it is stored, with one step unless told otherwise."""
    given: dict[str, Any] = {
        "id": UUID(int=7),
        "organization_id": ORGANIZATION,
        "user_id": None,
        "workflow_id": WORKFLOW,
        "run_id": None,
        "name": None,
        "description": None,
        "is_approved": False,
        "is_generated": True,
        "step_count": 1,
        "trajectory_data": b'[{"n":1}]',
        "dimensions": b'{"width":1,"height":2}',
        "original_input_values": b"{}",
        "created_at": NOW,
        "updated_at": NOW,
        "version": 1,
        **fields,
    }
    return StoredTrajectory(**given)


def sent(**fields: Any) -> dict[str, Any]:
    """The body of a request that creates one."""
    return {
        "workflow_id": str(WORKFLOW),
        "dimensions": {"width": 1280, "height": 800},
        "trajectory_data": [{"action": "click", "x": 1}],
        **fields,
    }


def imported(**fields: Any) -> ImportedTrajectory:
    """The same as a request is understood."""
    return ImportedTrajectory.model_validate_json(json.dumps(sent(**fields)))
