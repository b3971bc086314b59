"""``farhand run``: approved trajectories, done again on machines."""

import json
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import click

from schemas.runs.bulk import OTHERS_REFUSED
from server.cli.client import Api, api_options, printable
from server.cli.people.many_runs import refused, runs_in

COLUMNS: Final = (
    *("id", "status", "machine_id", "step", "step_count", "by", "created_at", "ended_at"),
    *("error", "workflow_id"),
)


@click.group()
def run() -> None:
    """Runs: approved trajectories, done again on machines with other values."""


def _values(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> Any:
    """Values by their names.  Raises BadParameter."""
    values = {}
    for each in given:
        name, separator, value = each.partition("=")
        if not separator:
            raise click.BadParameter("must be NAME=VALUE, such as order=4711")
        values[name] = value
    return values


def _secrets(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> Any:
    """Secrets by their names, read from files, so that no list of processes shows them."""
    values = {}
    for name, file in _values(context, option, given).items():
        try:
            values[name] = Path(file).read_text().removesuffix("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise click.BadParameter(f"{file} cannot be read: {error}") from None
    return values


@run.command("start")
@click.option("--workflow", help="The id of a workflow, whose main trajectory is run.")
@click.option("--trajectory", help="The id of a trajectory to run.")
@click.option("--machine", help="The machine to run on.")
@click.option("--pool", "pools", multiple=True, help="The id of a pool, whose machines may do it.")
@click.option("--value", "values", multiple=True, callback=_values, help="NAME=VALUE, as often.")
@click.option(
    "--secret-file",
    "secrets",
    multiple=True,
    callback=_secrets,
    help="NAME=FILE, which has the secret's value.",
)
@click.option("--priority", type=click.IntRange(0, 9), help="The highest comes first.")
@click.option("--halt-timeout", type=click.IntRange(min=0), help="Seconds that a halt keeps it.")
@click.option(
    "--bulk",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Begin as many as the file has, all or none: a .csv with a column for each value and, "
    "unless told here, one called machine; or lines of JSON as the API takes them.",
)
@api_options
def start_run(
    api: Api,
    workflow: str | None,
    trajectory: str | None,
    machine: str | None,
    pools: tuple[str, ...],
    values: dict[str, str],
    secrets: dict[str, str],
    priority: int | None,
    halt_timeout: int | None,
    bulk: Path | None,
) -> None:
    """Begin a run, and print its id; with --bulk many, and print the id of each."""
    asked = {
        "workflow_id": workflow,
        "trajectory_id": trajectory,
        "machine_id": machine,
        "pool_ids": list(pools) or None,
        "input_values": values or None,
        "sensitive_input_values": secrets or None,
        "priority": priority,
        "halt_timeout": halt_timeout,
    }
    body = {name: value for name, value in asked.items() if value is not None}
    if bulk is not None:
        _start_many(api, bulk, body)
        return
    api.show_one(api.call("POST", "/v1/runs", body), "id")


def _start_many(api: Api, file: Path, common: dict[str, Any]) -> None:
    runs = runs_in(file, common)
    asked = {"items": [body for _, body in runs], "all_or_none": True}
    answer = api.call("POST", "/v1/runs/bulk", asked)
    if wrong := [
        f"line {line}: {item['detail']}"
        for (line, _), item in zip(runs, answer["items"], strict=True)
        if item["status"] == "refused" and item["detail"] != OTHERS_REFUSED
    ]:
        raise refused(file, wrong)
    if api.as_json:
        api.show(answer, ("run_id",))
        return
    for item in answer["items"]:
        api.show_one(item, "run_id")


def _which(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command of several runs the options that say which, and what they ask as ``query``."""

    @click.option("--status", help="Only those: scheduling, running, success and so on.")
    @click.option("--machine", "machine_id", help="Only those on this machine.")
    @click.option("--workflow", "workflow_id", help="Only those of this workflow.")
    @wraps(command)
    def with_query(api: Api, **asked: str | None) -> None:
        command(api, {name: value for name, value in asked.items() if value is not None})

    return with_query


@run.command("list")
@api_options
@_which
def list_runs(api: Api, query: dict[str, str]) -> None:
    """List the runs, newest first."""
    api.show(api.call_list("/v1/runs", query), COLUMNS)


@run.command("export")
@api_options
@_which
def export_runs(api: Api, query: dict[str, str]) -> None:
    """Print whole runs, such as those with --status task_failed, each as a line of JSON."""
    for each in api.call_list("/v1/runs", query)["items"]:
        click.echo(json.dumps(api.call("GET", f"/v1/runs/{each['id']}")))


@run.command("show")
@click.argument("run_id", metavar="RUN")
@api_options
def show_run(api: Api, run_id: str) -> None:
    """Show a run, and why it is halted where it is."""
    found = api.call("GET", f"/v1/runs/{run_id}")
    api.show({"items": [found]}, COLUMNS)
    if halted := found["halted"]:
        words = f"halted at step {halted['step']} ({halted['reason']}): {halted['detail']}"
        click.echo(printable(words), err=True)


def _place(_context: click.Context, _option: click.Parameter, given: str | None) -> Any:
    """A place of the screen.  Raises BadParameter."""
    if given is None:
        return None
    x, _, y = given.partition(",")
    try:
        return {"x": int(x), "y": int(y)}
    except ValueError:
        raise click.BadParameter("must be X,Y in pixels, such as 620,322") from None


def _element(_context: click.Context, _option: click.Parameter, given: str | None) -> Any:
    """What finds an element.  Raises BadParameter."""
    if given is None:
        return None
    try:
        selector = json.loads(given)
    except ValueError:
        selector = None
    if not isinstance(selector, dict):
        raise click.BadParameter('must be a JSON object, such as {"role": "text", "name": "Order"}')
    return selector


def _repairs(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say how the step is, or was, to be done, as ``repair``."""

    @click.option(
        "--place", callback=_place, metavar="X,Y", help="Do the step to what is there now."
    )
    @click.option(
        "--element",
        callback=_element,
        metavar="JSON",
        help='Do the step to the element that this finds, such as {"name": "Order"}.',
    )
    @click.option(
        "--by-hand",
        type=click.UUID,
        metavar="TRAJECTORY",
        help="With --skip: the step was done by hand, as this recording has it.",
    )
    @wraps(command)
    def with_repair(
        api: Api, *, place: Any, element: Any, by_hand: UUID | None, **others: Any
    ) -> None:
        asked = {"place": place, "element": element, "by_hand": by_hand and str(by_hand)}
        repair = {name: value for name, value in asked.items() if value is not None}
        command(api, repair=repair, **others)

    return with_repair


@run.command("continue")
@click.argument("run_id", metavar="RUN")
@click.option("--at-step", type=click.IntRange(min=1), help="Go on at this step.")
@click.option("--skip", is_flag=True, help="Take the step for done, and go on behind it.")
@api_options
@_repairs
def continue_run(
    api: Api, run_id: str, at_step: int | None, skip: bool, repair: dict[str, Any]
) -> None:
    """Have a halted run go on; a repair is proposed as a new version of its trajectory."""
    path = f"/v1/runs/{run_id}"
    halted = api.call("GET", path)["halted"]
    if halted is None:
        raise click.ClickException(f"Run {run_id} is not halted.")
    body = {"halted_at": halted["at"], "at_step": at_step, "skip": skip, **repair}
    api.show_changed(api.call("POST", f"{path}/continue", body))


@run.command("cancel")
@click.argument("run_id", metavar="RUN")
@api_options
def cancel_run(api: Api, run_id: str) -> None:
    """End a run: what it does on its machine is interrupted."""
    api.show_changed(api.call("POST", f"/v1/runs/{run_id}/cancel"))


@run.command("retry")
@click.argument("run_id", metavar="RUN")
@click.option("--secret-file", "secrets", multiple=True, callback=_secrets, help="NAME=FILE.")
@api_options
def retry_run(api: Api, run_id: str, secrets: dict[str, str]) -> None:
    """Begin a run that has ended once more, and print the new one's id."""
    body = {"sensitive_input_values": secrets}
    api.show_one(api.call("POST", f"/v1/runs/{run_id}/retry", body), "id")
