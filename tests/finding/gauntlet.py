"""Records workflows, has them approved, and runs them on forms that have changed.

Half of the workflows and of the seeds is there to set thresholds by, the other to report.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from tests.finding import recorder
from tests.finding.desk import Desk, Form
from tests.finding.judging import Came, is_whole, judged, why_wrong
from tests.finding.results import Result, Way
from tests.finding.scenario import CHANGES, Change, Scenario, usual
from tests.finding.workflows import RECORDED, VALUES, WORKFLOWS, Wanted, Workflow
from tests.runs import approve
from tests.service import Service

PAUSES: Final = (0.7, 1.5, 3.0, 5.0)
"""Seconds between the moves of one recording after another, until one is whole: what is pressed
before its elements were told has none, and a busy system is slow to tell."""

MOST_WITHOUT: Final = 2
"""Of these, until a press without an element is taken as it is: some menus tell of no place."""

RUN_SECONDS: Final = 120.0
HEARD_SECONDS: Final = 30.0
"""For a form on a busy system to hear an input."""


@dataclass(frozen=True)
class Course:
    """A workflow that is recorded in one way and then run after changes, on one machine."""

    workflow: Workflow
    way: Way
    seed: int
    changes: tuple[Change, ...] = CHANGES

    def after(self, changes: tuple[Change, ...]) -> "Course":
        """The same after these changes alone."""
        return replace(self, changes=changes)


def courses(half: str, seeds: Iterable[int], ways: Sequence[Way]) -> list[Course]:
    """All of a half: workflows of both toolkits, and seeds that the other half has not."""
    workflows = of_half(half)
    own = [2 * seed + (half == "report") for seed in seeds]
    return [Course(each, way, seed) for seed in own for each in workflows for way in ways]


def of_half(half: str) -> tuple[Workflow, ...]:
    """The workflows of a half, three of each toolkit; "all" is both."""
    if half == "all":
        return WORKFLOWS
    is_report = half == "report"
    return tuple(each for n, each in enumerate(WORKFLOWS) if (n // 2 % 2 == 1) is is_report)


async def run(
    desks: Sequence[Desk], those: Iterable[Course], tell: Callable[[Result], object] = print
) -> list[Result]:
    """Have each of the desks take one course after another; what came of all."""
    waiting, results = [*those], list[Result]()

    def note(result: Result) -> None:
        results.append(result)
        tell(result)

    async def work(desk: Desk) -> None:
        while waiting:
            await taken(desk, waiting.pop(0), note)

    async with asyncio.TaskGroup() as group:
        for desk in desks:
            group.create_task(work(desk))
    return results


async def taken(desk: Desk, course: Course, tell: Callable[[Result], object]) -> None:
    """Record a workflow and run it after each change."""
    scenario = usual(Random(f"{course.seed} {course.workflow.name}"))
    try:
        trajectory = await _approved(desk, course, scenario)
    except AssertionError as error:
        tell(_result(course, Change("its recording", _as_it_was), Came.WRONG, str(error)))
        return
    for change in course.changes:
        chance = Random(f"{course.seed} {course.workflow.name} {change.name}")
        changed = change.of(scenario, course.workflow.subject, chance)
        wanted = course.workflow.wanted(scenario, VALUES)
        tell(await _tried(desk, course, change, trajectory, (changed, wanted)))


async def _approved(desk: Desk, course: Course, scenario: Scenario) -> str:
    """A trajectory that was really recorded, with parameters, and approved by somebody else."""
    trajectory, steps = await _whole(desk, course, scenario)
    path = f"/v1/trajectories/{trajectory}"
    parameters = course.workflow.parameters
    for number, step in enumerate(steps, 1):
        if step["operation"] == "keyboard.type":
            name = parameters.pop(0)
            etag = (await desk.service.get(path)).headers["ETag"]
            assert step["body"]["text"] == RECORDED[name], step
            reply = await desk.service.request(
                "PATCH",
                f"{path}/steps/{number}",
                {"parameter": {"name": name, "text": RECORDED[name]}},
                headers={"If-Match": etag},
            )
            assert reply.status == 200, reply.body
    assert not parameters, steps
    await approve(desk.service, path)
    return trajectory


async def _whole(desk: Desk, course: Course, scenario: Scenario) -> tuple[str, list[Any]]:
    """The first recording in which all is known.  Raises AssertionError."""
    why: object = None
    for number, pause in enumerate(PAUSES):
        try:
            trajectory, steps = await _recorded(desk, course, scenario, pause)
        except AssertionError as error:
            why = error
            continue
        if _is_whole(steps, course, with_all=number < MOST_WITHOUT):
            return trajectory, steps
        why = [(each["operation"], each.get("target")) for each in steps]
    raise AssertionError(f"no recording was whole: {why}")


def _is_whole(steps: list[Any], course: Course, *, with_all: bool) -> bool:
    """Whether each step knows what it was done to, as far as that is told.

    Without elements for all steps those that type have them for all that.
    """
    if any(each["operation"] == "gap" for each in steps):
        return False
    texts = [each for each in steps if each["operation"] == "keyboard.type"]
    if any("text" not in each["body"] for each in texts):
        return False
    if not course.way.by_elements:
        return all(
            "crop" in (each.get("target") or {})
            for each in steps
            if each["operation"].startswith("mouse.c")
        )
    of_elements = ("mouse.c", "keyboard.type") if with_all else ("keyboard.type",)
    return all(
        "element" in (each.get("target") or {})
        for each in steps
        if each["operation"].startswith(of_elements)
    )


async def _recorded(
    desk: Desk, course: Course, scenario: Scenario, pause: float
) -> tuple[str, list[Any]]:
    service = desk.service
    workflow = course.workflow
    async with desk.shows(
        workflow.toolkit, scenario, tells_elements=course.way.by_elements
    ) as form:
        reply = await service.post(
            f"/v1/machines/{desk.machine_id}/recordings", {"keep_texts": True}
        )
        assert reply.status == 201, reply.body
        recording = reply.json
        try:
            async with recorder.doing(desk, by_hand=course.way.by_hand) as doer:
                await asyncio.sleep(pause)
                for each in workflow.moves:
                    await recorder.do(doer, form, scenario, each, pause)
        finally:
            await service.post(f"/v1/recordings/{recording['id']}/stop")
        wanted = workflow.wanted(scenario, RECORDED)
        lines = await _heard(form, lambda lines: is_whole(lines, wanted, {}))
        assert is_whole(lines, wanted, {}), (workflow.name, course.way, lines)
    trajectory = recording["trajectory_id"]
    path = f"/v1/trajectories/{trajectory}"
    return trajectory, (await service.get(path)).json["trajectory_data"]


async def _heard(form: Form, is_all: Callable[[list[Any]], bool]) -> list[Any]:
    """What a form has recorded, once that is all or nothing more comes."""
    until = time.monotonic() + HEARD_SECONDS
    while not is_all(lines := await form.lines()) and time.monotonic() < until:  # noqa: ASYNC110 - no event tells
        await asyncio.sleep(0.1)
    return lines


async def _tried(
    desk: Desk, course: Course, change: Change, trajectory: str, case: tuple[Scenario, Wanted]
) -> Result:
    workflow, (scenario, wanted) = course.workflow, case
    async with desk.shows(
        workflow.toolkit, scenario, tells_elements=course.way.by_elements
    ) as form:
        run = await _run(desk.service, desk.machine_id, trajectory, workflow)
        is_success = run["status"] == "success"
        held = scenario.filled
        lines = await _heard(form, lambda lines: not is_success or is_whole(lines, wanted, held))
    came = judged(lines, wanted, held, is_success=is_success)
    how = _said(run)
    if came is Came.WRONG:
        how = f"{how}; {why_wrong(lines, wanted) or f'the record has only {lines}'}"
    return _result(course, change, came, how)


def _result(course: Course, change: Change, came: Came, how: str) -> Result:
    return Result(
        course.workflow.name,
        course.workflow.toolkit,
        change.name,
        course.way,
        course.seed,
        came,
        change.leaves_all(course.workflow.subject),
        how,
    )


def _as_it_was(scenario: Scenario, *_: object) -> Scenario:
    return scenario


def _said(run: Any) -> str:
    """How a run ended, or why it halted."""
    if run["halted"]:
        return f"step {run['halted']['step']} {run['halted']['reason']}: {run['halted']['detail']}"
    return f"{run['status']}{': ' + run['error'] if run.get('error') else ''}"


async def _run(service: Service, machine_id: str, trajectory: str, workflow: Workflow) -> Any:
    """A run once it has ended or halted, which then is cancelled."""
    values = {name: VALUES[name] for name in workflow.parameters}
    reply = await service.post(
        "/v1/runs",
        {"trajectory_id": trajectory, "machine_id": machine_id, "input_values": values},
    )
    assert reply.status == 201, reply.body
    path = f"/v1/runs/{reply.json['id']}"
    run = await _until(service, path, lambda run: run["halted"] or run["ended_at"])
    if not run["ended_at"]:
        await service.post(f"{path}/cancel")
        await _until(service, path, lambda run: run["ended_at"])
    return run


async def _until(service: Service, path: str, is_so: Callable[[Any], Any]) -> Any:
    async with asyncio.timeout(RUN_SECONDS):
        while not is_so(run := (await service.get(path)).json):  # noqa: ASYNC110 - none tells
            await asyncio.sleep(0.1)
    return run
