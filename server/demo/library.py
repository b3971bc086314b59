"""The demo's trajectories: a workflow, some samples imported into it, and the three reads."""

import json
from importlib.resources import files
from typing import Any

from rich.console import Console
from rich.text import Text

from server.demo import DemoError
from server.demo.caller import Answer, Caller

SAMPLES = "samples.jsonl"


def samples() -> list[dict[str, Any]]:
    """The sample trajectories; they lack only the id of their workflow."""
    text = files("server.demo").joinpath(SAMPLES).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def show_trajectories(console: Console, caller: Caller) -> None:
    """Make a workflow, import the samples, and print what each of the reads answers."""
    console.print(Text("Trajectories", "bold"))
    new = {"name": "Enter an invoice", "description": "From the scanned page to the ledger."}
    answer = caller.call("POST", "/v1/workflows", new)
    workflow_id = answer.json()["id"]
    _print(console, "create workflow", new["name"], answer)

    imported = [
        caller.call("POST", "/v1/trajectories", {**sample, "workflow_id": workflow_id})
        for sample in samples()
    ]
    steps = sum(len(each.json()["trajectory_data"] or ()) for each in imported)
    total = sum(each.milliseconds for each in imported)
    console.print(_line("import", f"{len(imported)} trajectories, {steps} steps", total))

    query = f"workflow_id={workflow_id}&is_generated=null&include=workflow"
    answer = caller.call("GET", f"/v1/trajectories?{query}")
    page = answer.json()
    _check(page["total"] == len(imported), "the list lacks what was imported")
    _print(console, "list", f"{len(page['items'])} of {page['total']}, newest first:", answer)
    for item in page["items"]:
        console.print(_item(item))

    wanted = page["items"][-1]
    answer = caller.call("GET", f"/v1/trajectories/{wanted['id']}?include=workflow")
    _check(answer.json()["trajectory_data"] == wanted["trajectory_data"], "the steps differ")
    read = f"{len(wanted['trajectory_data'])} steps; included: workflow {_workflow(answer)}"
    _print(console, "get the oldest", read, answer)

    answer = caller.call("GET", f"/v1/workflows/{workflow_id}/latest-trajectory")
    _print(console, "latest of workflow", answer.json()["name"], answer)


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise DemoError(f"the trajectories that came back are not those that went in: {otherwise}")


def _workflow(answer: Answer) -> str:
    return ", ".join(each["name"] for each in answer.json()["included"])


def _item(item: dict[str, Any]) -> Text:
    steps = item["trajectory_data"] or []
    size = "{width} x {height}".format(**item["dimensions"])
    state = (
        ("pending", "yellow")
        if not item["is_generated"]
        else ("approved", "green")
        if item["is_approved"]
        else ("not approved", "dim")
    )
    line = Text(f"{'':<6}", no_wrap=True)
    line.append(f"{item['name']:<37}")
    line.append(f"{len(steps)} steps   ", "dim")
    line.append(f"{size:<14}", "dim")
    line.append(*state)
    return line


def _print(console: Console, done: str, what: str, answer: Answer) -> None:
    console.print(_line(done, what, answer.milliseconds))


def _line(done: str, what: str, milliseconds: float) -> Text:
    line = Text(no_wrap=True)
    line.append(f"  {done:<21}", "cyan")
    line.append(f"{what:<47}")
    line.append(f"{milliseconds:>6.1f} ms", "dim")
    return line
