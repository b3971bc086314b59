from uuid import UUID

from server.api.trajectories.paths import StepPath, TrajectoryPath


def test_refusals_name_what_the_path_names() -> None:
    own = UUID(int=7)
    assert TrajectoryPath(trajectory_id=own).subject == f"trajectory {own}"
    step = StepPath(trajectory_id=own, number=3)
    assert step.subject == f"trajectory {own} with a step 3"
