"""The samples that the demo imports are what the service takes."""

from uuid import uuid4

from pydantic_core import to_json

from schemas.inputs.bodies import INPUT_BODIES, Operation
from schemas.resources.trajectories import ImportedTrajectory
from server.demo.library import samples


def test_every_sample_is_a_trajectory() -> None:
    for sample in samples():
        body = to_json({**sample, "workflow_id": str(uuid4())})
        trajectory = ImportedTrajectory.model_validate_json(body)
        assert trajectory.step_count == len(sample["trajectory_data"] or ())


def test_every_step_is_an_input_within_its_display() -> None:
    for sample in samples():
        for step in sample["trajectory_data"] or ():
            body = INPUT_BODIES[Operation(step["operation"])].model_validate_json(
                to_json(step["body"])
            )
            for name, value in body.model_dump().items():
                if name.endswith(("x", "y")):
                    size = sample["dimensions"]["width" if name.endswith("x") else "height"]
                    assert 0 <= value < size


def test_samples_show_every_state() -> None:
    states = {(bool(each["trajectory_data"]), each.get("is_approved", False)) for each in samples()}
    assert states == {(True, True), (True, False), (False, False)}
