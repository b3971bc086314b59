"""The demo's trajectories: a workflow, some samples imported into it, and the three reads."""

import json
from importlib.resources import files
from typing import Any
from uuid import UUID

from rich.console import Console
from rich.text import Text

from farhand import Farhand
from farhand.types import Trajectory, TrajectoryWithIncluded
from server.demo import DemoError
from server.demo.timing import timed

RECORDED = "HELLO"
"""What the recording of the word is called."""

SAMPLES = "samples.jsonl"


def samples() -> list[dict[str, Any]]:
    """The sample trajectories; they lack only the id of their workflow."""
    text = files("server.demo").joinpath(SAMPLES).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def show_trajectories(console: Console, farhand: Farhand) -> None:
    """Make a workflow, import the samples, and print what each of the reads answers."""
    console.print(Text("Trajectories", "bold"))
    name, description = "Enter an invoice", "From the scanned page to the ledger."
    workflow, took = timed(lambda: farhand.workflows.create(name, description=description))
    console.print(_line("create workflow", name, took))

    stored, took = timed(lambda: [_create(farhand, workflow.id, each) for each in samples()])
    steps = sum(each.step_count for each in stored)
    console.print(_line("import", f"{len(stored)} trajectories, {steps} steps", took))

    page, took = timed(
        lambda: farhand.trajectories.page(
            workflow_id=workflow.id, is_generated=None, include="workflow"
        )
    )
    _check(page.total == len(stored), "the list lacks what was imported")
    console.print(_line("list", f"{len(page.items)} of {page.total}, newest first:", took))
    for item in page.items:
        console.print(_item(item))

    oldest = page.items[-1]
    read, took = timed(lambda: farhand.trajectories.get(oldest.id, include="workflow"))
    _check(read.trajectory_data == oldest.trajectory_data, "the steps differ")
    told = f"{read.step_count} steps; included: workflow {_workflow(read)}"
    console.print(_line("get the oldest", told, took))

    latest, took = timed(lambda: farhand.trajectories.latest(workflow.id))
    console.print(_line("latest of workflow", str(latest.name), took))


def show_recording(console: Console, farhand: Farhand, trajectory_id: UUID, drags: int) -> None:
    """Print what was recorded while the word was written: the link's token may approve it."""
    read, took = timed(lambda: farhand.trajectories.get(trajectory_id))
    if read.step_count != drags:
        raise DemoError(f"{read.step_count} steps were recorded of {drags} drags")
    told = f"{read.step_count} steps: review it in the console"
    console.print(_line(f"recorded {RECORDED}", told, took))


def _create(farhand: Farhand, workflow_id: UUID, sample: dict[str, Any]) -> Trajectory:
    return farhand.trajectories.create(workflow_id, sample.pop("trajectory_data"), **sample)


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise DemoError(f"the trajectories that came back are not those that went in: {otherwise}")


def _workflow(read: TrajectoryWithIncluded) -> str:
    return ", ".join(each.model_dump()["name"] for each in read.included or ())


def _item(item: Trajectory) -> Text:
    size = "{width} x {height}".format(**item.dimensions)
    state = (
        ("pending", "yellow")
        if not item.is_generated
        else ("approved", "green")
        if item.is_approved
        else ("not approved", "dim")
    )
    line = Text(f"{'':<6}", no_wrap=True)
    line.append(f"{item.name:<37}")
    line.append(f"{item.step_count} steps   ", "dim")
    line.append(f"{size:<14}", "dim")
    line.append(*state)
    return line


def _line(done: str, what: str, milliseconds: float) -> Text:
    line = Text(no_wrap=True)
    line.append(f"  {done:<21}", "cyan")
    line.append(f"{what:<47}")
    line.append(f"{milliseconds:>6.1f} ms", "dim")
    return line
