"""``farhand trajectory step``: single steps, by their numbers."""

import json
from typing import Any
from uuid import UUID

import click

from server.cli.client import Api, api_options

COLUMNS = ("number", "operation", "says", "name", "cannot_run")


@click.group()
def step() -> None:
    """Steps of a trajectory; whoever changes one ends an approval."""


@step.command("list")
@click.argument("trajectory_id", metavar="ID", type=click.UUID)
@api_options
def list_steps(api: Api, trajectory_id: UUID) -> None:
    """List the steps, with their numbers and why one cannot run."""
    # First the hash: what is read then is that, or newer, and newer is not approved by it.
    content_hash = api.call("GET", f"/v1/trajectories/{trajectory_id}")["content_hash"]
    found = api.call_list(f"/v1/trajectories/{trajectory_id}/steps")
    if api.as_json:
        click.echo(json.dumps(found))
        return
    api.show({**found, "items": [_row(each) for each in found["items"]]}, COLUMNS)
    if content_hash:
        click.echo(f"content hash: {content_hash}", err=True)


def _row(item: dict[str, Any]) -> dict[str, Any]:
    recorded = item["step"]
    operation, body = recorded.get("operation"), recorded.get("body")
    return {
        "number": item["number"],
        "operation": operation if isinstance(operation, str) else None,
        "says": f"secret {recorded['secret']}" if "secret" in recorded else json.dumps(body),
        "name": recorded.get("name"),
        "cannot_run": item["cannot_run"],
    }


@step.command("wait")
@click.argument("trajectory_id", metavar="ID", type=click.UUID)
@click.argument("number", type=click.IntRange(min=1))
@click.argument("seconds", type=float)
@api_options
def insert_wait(api: Api, trajectory_id: UUID, number: int, seconds: float) -> None:
    """Insert a wait in front of step NUMBER."""
    wait = {"operation": "wait", "body": {"seconds": seconds}}
    body = {"steps": [wait], "before": number}
    api.show_changed(api.call("POST", f"/v1/trajectories/{trajectory_id}/steps", body))


@step.command("change")
@click.argument("trajectory_id", metavar="ID", type=click.UUID)
@click.argument("number", type=click.IntRange(min=1))
@click.option("--name", help="What the step is called; an empty one takes the name away.")
@click.option("--expect", help="What the screen shows once it is done, as JSON.")
@click.option("--secret", help="Put the secret of this name in the place of the text.")
@api_options
def change_step(api: Api, trajectory_id: UUID, number: int, **given: str | None) -> None:
    """Name step NUMBER, say what is expected after it, or make its text a secret."""
    body: dict[str, Any] = {
        name: value or None for name, value in given.items() if value is not None
    }
    if body.get("expect"):
        try:
            body["expect"] = json.loads(body["expect"])
        except ValueError as error:
            raise click.BadParameter(f"is not JSON: {error}", param_hint="--expect") from None
    api.show_changed(api.call("PATCH", _address(trajectory_id, number), body))


@step.command("parameter")
@click.argument("trajectory_id", metavar="ID", type=click.UUID)
@click.argument("number", type=click.IntRange(min=1))
@click.argument("name")
@click.argument("text")
@click.option("--type", "kind", type=click.Choice(["text", "integer", "number"]), default="text")
@click.option("--example", help="A value as it could be.  [default: TEXT]")
@click.option("--max-length", type=int, help="In characters.")
@click.option("--control-characters", is_flag=True, help="Allow tabs and ends of lines.")
@api_options
def make_parameter(
    api: Api, trajectory_id: UUID, number: int, name: str, text: str, kind: str, **said: Any
) -> None:
    """Make TEXT, wherever it stands in the text of step NUMBER, the parameter NAME."""
    new = {"name": name, "text": text, "type": kind}
    new |= {option: value for option, value in said.items() if value}
    api.show_changed(api.call("PATCH", _address(trajectory_id, number), {"parameter": new}))


@step.command("remove")
@click.argument("trajectory_id", metavar="ID", type=click.UUID)
@click.argument("number", type=click.IntRange(min=1))
@api_options
def remove_step(api: Api, trajectory_id: UUID, number: int) -> None:
    """Take step NUMBER out; those behind it move up."""
    api.show_changed(api.call("DELETE", _address(trajectory_id, number)))


def _address(trajectory_id: UUID, number: int) -> str:
    return f"/v1/trajectories/{trajectory_id}/steps/{number}"
