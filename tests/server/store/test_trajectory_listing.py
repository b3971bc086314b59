"""What a list is asked for becomes a filter; the lists themselves are in test_trajectories.py."""

from schemas.trajectories import TrajectoryQuery
from server.store.trajectory_listing import trajectory_filter
from tests.store import ORGANIZATION


def test_nothing_is_filtered_that_was_not_asked_for() -> None:
    wanted = trajectory_filter(ORGANIZATION, TrajectoryQuery(is_generated=None))
    assert wanted == {"organization_id": ORGANIZATION}
