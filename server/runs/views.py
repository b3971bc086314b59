"""A run as it is answered, and told."""

from schemas.runs.runs import Run, RunWithSteps
from server.store.runs.documents import StoredRun


def run_view(stored: StoredRun) -> Run:
    """A run without its steps."""
    return Run.model_validate(_fields(stored))


def whole_view(stored: StoredRun) -> RunWithSteps:
    """A run with its steps."""
    return RunWithSteps.model_validate(_fields(stored))


def _fields(stored: StoredRun) -> dict[str, object]:
    hexed = stored.content_hash.hex()
    return {**vars(stored), "content_hash": hexed, "proposal_id": stored.proposal_id}
