"""Runs to look at: of a trajectory that somebody else has approved, on a desk."""

from contextlib import closing
from functools import partial
from typing import Any

from playwright.sync_api import expect

from tests.browser.library import Library, somebody
from tests.browser.rig import Site, Visit
from tests.processes import ServedApi, until

KEYS = {"operation": "keyboard.key", "body": {"text": "F5"}}
TYPED = {
    "operation": "keyboard.type",
    "body": {"text": "{{order}}"},
    "parameters": {"order": {"type": "integer", "example": "4711", "max_length": 6}},
}
NOWHERE = {
    "operation": "mouse.click",
    "body": {"x": 450, "y": 290},
    "target": {"box": {"x": 390, "y": 270, "width": 120, "height": 40}},
}
"""By what was recorded it is not found on any screen."""


def approved(site: Site, workflow: str, *steps: dict[str, Any]) -> str:
    """The id of a trajectory of a new workflow that somebody else has approved."""
    made = site.api.call("POST", "/v1/workflows", {"name": workflow})
    library = Library(site, made.json["id"])
    trajectory = library.add("Enter an order", *steps)
    body = {
        "decision": "approve",
        "content_hash": library.get(trajectory)["content_hash"],
    }
    with closing(ServedApi(site.server.url, somebody(site))) as reviewer:
        answer = reviewer.call("POST", f"/v1/trajectories/{trajectory}/review", body)
    assert answer.status == 200, answer.body
    return trajectory


def run_of(site: Site, run: str) -> Any:
    """How a run is now."""
    return site.api.call("GET", f"/v1/runs/{run}").json


def is_halted(site: Site, run: str) -> bool:
    return run_of(site, run)["halted"] is not None


def halted_run(site: Site, machine: str, halt_timeout: int) -> str:
    """The id of a run that is halted at its third step of four.

    It keeps its machine from others for so many seconds.
    """
    shot = site.api.call("GET", f"/v1/computer/{machine}/display/screenshot?format=jpeg")
    sent = site.api.call("POST", "/v1/pictures", shot.body, {"Content-Type": "image/jpeg"})
    picture = {"picture": sent.json["id"]}
    steps = [{**step, **picture} for step in (KEYS, TYPED, NOWHERE, KEYS)]
    body = {
        "trajectory_id": approved(site, "Enter an order", *steps),
        "machine_id": machine,
        "input_values": {"order": "4711"},
        "halt_timeout": halt_timeout,
    }
    begun = site.api.call("POST", "/v1/runs", body)
    assert begun.status == 201, begun.body
    run = str(begun.json["id"])
    until(partial(is_halted, site, run), "the run is halted")
    return run


def show_runs(visit: Visit) -> None:
    """The list."""
    visit.sign_in("/runs")
    expect(visit.page.get_by_role("link", name="Enter an order")).to_be_visible()


def show_run(visit: Visit, run: str) -> None:
    """One that is halted."""
    visit.sign_in(f"/runs/{run}")
    expect(visit.page.locator(".halt .viewer canvas:not([hidden])")).to_have_count(2)


def show_start(visit: Visit, run: str) -> None:
    """The form that begins one."""
    trajectory = run_of(visit.site, run)["trajectory_id"]
    visit.sign_in(f"/trajectories/{trajectory}")
    visit.page.get_by_role("button", name="Run", exact=True).click()
    expect(visit.page.get_by_role("option", name="Reception")).to_be_attached()
