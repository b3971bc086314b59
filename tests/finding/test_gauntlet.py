"""Recorded steps on a real form that has changed: the right thing is done, or nothing."""

from pathlib import Path

from schemas.steps.step import Step
from tests.finding.gauntlet import WORKFLOWS, run
from tests.finding.rig import desk
from tests.service import running_service


def by_picture_alone(step: Step) -> Step:
    """A step as a machine records it that tells of no elements."""
    if step.target is None:
        return step
    bare = step.target.model_copy(update={"element": None, "box": None, "around": None})
    return step.model_copy(update={"target": bare})


async def test_gauntlet(mongodb: str, tmp_path: Path) -> None:
    async with (
        running_service(mongodb, tmp_path / "server") as service,
        desk(service, tmp_path) as there,
    ):
        gauntlet = await run(there)
        print(gauntlet.table())
        clicks = tuple(each for each in WORKFLOWS if each.operation == "mouse.click")
        pictures = await run(there, clicks, without=by_picture_alone)
        print(pictures.table())
        assert gauntlet.wrong == []
        assert pictures.wrong == []
