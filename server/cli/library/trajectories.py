"""``farhand trajectory``: trajectories listed, looked at, reviewed, named, copied and removed."""

import json
from datetime import timedelta
from typing import Any, get_args
from uuid import UUID

import click

from schemas.steps.reviews import ListedReviewState
from server.cli.client import Api, api_options, printable
from server.cli.durations import Duration
from server.cli.library.steps import step
from server.cli.transfer.commands import trajectory

__all__ = ["trajectory"]

COLUMNS = ("id", "name", "workflow_id", "machine_id", "steps", "review", "main", "updated_at")
GOING_COLUMNS = ("id", "name", "machine_id", "pictures_until")
SHOWN = (
    *(
        "id",
        "name",
        "description",
        "workflow_id",
        "machine_id",
        "step_count",
        "is_generated",
        "is_main",
    ),
    *("created_at", "updated_at", "content_hash"),
    *("pictures_until", "pictures_expired_at"),
)

trajectory.add_command(step)


@trajectory.command("list")
@click.option("--workflow", type=click.UUID, help="Only the trajectories of this workflow.")
@click.option("--machine", help="Only those that were recorded on the machine with this id.")
@click.option(
    "--author",
    type=click.UUID,
    help="Only those that the user or the token with this id made or changed.",
)
@click.option("--search", help="Only those with this in their id, name or description.")
@click.option(
    "--review",
    type=click.Choice(get_args(ListedReviewState)),
    help="Only those in this state of the review.",
)
@click.option("--all", "every_state", is_flag=True, help="Those pending generation too.")
@api_options
def list_trajectories(
    api: Api,
    workflow: UUID | None,
    machine: str | None,
    author: UUID | None,
    search: str | None,
    review: str | None,
    every_state: bool,
) -> None:
    """List trajectories, newest first, without their steps."""
    query = {"steps": "false"}
    if review is not None:
        query["review_state"] = review
    elif every_state:
        query["is_generated"] = "null"
    if workflow is not None:
        query["workflow_id"] = str(workflow)
    if machine is not None:
        query["machine_id"] = machine
    if author is not None:
        query["author_id"] = str(author)
    if search is not None:
        query["search"] = search
    found = api.call_list("/v1/trajectories", query)
    if not api.as_json:
        found = {**found, "items": [_row(each) for each in found["items"]]}
    api.show(found, COLUMNS)


def _row(item: dict[str, Any]) -> dict[str, Any]:
    return {
        **item,
        "steps": item["step_count"],
        "review": item["review"]["state"] if item["is_generated"] else "pending",
        "main": "main" if item["is_main"] else "",
    }


@trajectory.command("show")
@click.argument("trajectory_id", metavar="ID", type=click.UUID)
@api_options
def show_trajectory(api: Api, trajectory_id: UUID) -> None:
    """Show a trajectory, its review, and the hash of its content, by which it is approved."""
    found = api.call("GET", address(trajectory_id))
    if api.as_json:
        click.echo(json.dumps(found))
        return
    for name in SHOWN:
        if found[name] is not None:
            _say(name.replace("_", " "), found[name])
    review = found["review"]
    _say("review", review["state"])
    if review["by"] is not None:
        _say("reviewed by", f"{review['by']['token_name']}, {review['at']}")
    if review["comment"] is not None:
        _say("comment", review["comment"])


def _say(name: str, value: object) -> None:
    click.echo(printable(f"{name + ':':14} {value}"))


@trajectory.command("pictures")
@click.option(
    "--within", type=Duration(), default="7d", show_default=True, help="How soon they go, at most."
)
@api_options
def going_pictures(api: Api, within: timedelta) -> None:
    """List the trajectories whose pictures go, the next first, and until when.

    Those of approved trajectories stay. A change, or an approval, keeps the others for longer.
    """
    query = {"within": str(int(within.total_seconds()))}
    api.show(api.call_list("/v1/pictures", query), GOING_COLUMNS)


@trajectory.command("rename")
@click.argument("trajectory_id", metavar="ID", type=click.UUID)
@click.argument("name")
@api_options
def rename_trajectory(api: Api, trajectory_id: UUID, name: str) -> None:
    """Give a trajectory another name."""
    api.show_changed(api.call("PATCH", address(trajectory_id), {"name": name}))


@trajectory.command("main")
@click.argument("trajectory_id", metavar="ID", type=click.UUID)
@api_options
def make_main(api: Api, trajectory_id: UUID) -> None:
    """Make a trajectory the main one of its workflow, in the place of another."""
    api.show_changed(api.call("PATCH", address(trajectory_id), {"is_main": True}))


@trajectory.command("move")
@click.argument("trajectory_id", metavar="ID", type=click.UUID)
@click.argument("workflow_id", metavar="WORKFLOW", type=click.UUID)
@api_options
def move_trajectory(api: Api, trajectory_id: UUID, workflow_id: UUID) -> None:
    """Move a trajectory to another workflow; an approval ends with that."""
    body = {"workflow_id": str(workflow_id)}
    api.show_changed(api.call("PATCH", address(trajectory_id), body))


@trajectory.command("duplicate")
@click.argument("trajectory_id", metavar="ID", type=click.UUID)
@click.option("--name", help="What the copy is called.")
@api_options
def duplicate_trajectory(api: Api, trajectory_id: UUID, name: str | None) -> None:
    """Make a copy, which nobody has approved, and print its id."""
    api.show_one(api.call("POST", f"{address(trajectory_id)}/duplicate", {"name": name}), "id")


@trajectory.command("remove")
@click.argument("trajectory_id", metavar="ID", type=click.UUID)
@api_options
def remove_trajectory(api: Api, trajectory_id: UUID) -> None:
    """Remove a trajectory and its steps."""
    api.call("DELETE", address(trajectory_id))


@trajectory.command("approve")
@click.argument("trajectory_id", metavar="ID", type=click.UUID)
@click.option(
    "--content-hash", required=True, help="Of what you looked at, as show and step list print it."
)
@click.option("--comment", help="Why; for others to read.")
@api_options
def approve_trajectory(
    api: Api, trajectory_id: UUID, content_hash: str, comment: str | None
) -> None:
    """Approve a trajectory that somebody else made, so that it can be run.

    Only the content that you name: where it has changed meanwhile nothing is approved.
    """
    _decide(api, trajectory_id, "approve", content_hash, comment)


@trajectory.command("reject")
@click.argument("trajectory_id", metavar="ID", type=click.UUID)
@click.option("--comment", help="Why; for others to read.")
@api_options
def reject_trajectory(api: Api, trajectory_id: UUID, comment: str | None) -> None:
    """Reject a trajectory as it is now."""
    _decide(api, trajectory_id, "reject", _present_hash(api, trajectory_id), comment)


@trajectory.command("withdraw")
@click.argument("trajectory_id", metavar="ID", type=click.UUID)
@click.option("--comment", help="Why; for others to read.")
@api_options
def withdraw_approval(api: Api, trajectory_id: UUID, comment: str | None) -> None:
    """Take the approval of a trajectory back."""
    _decide(api, trajectory_id, "withdraw", _present_hash(api, trajectory_id), comment)


def _present_hash(api: Api, trajectory_id: UUID) -> str:
    found: str | None = api.call("GET", address(trajectory_id))["content_hash"]
    if found is None:
        raise click.ClickException(f"trajectory {trajectory_id} is pending generation")
    return found


def _decide(
    api: Api, trajectory_id: UUID, decision: str, content_hash: str, comment: str | None
) -> None:
    body = {"decision": decision, "content_hash": content_hash, "comment": comment}
    api.show_changed(api.call("POST", f"{address(trajectory_id)}/review", body))


def address(trajectory_id: UUID) -> str:
    """Where the API has a trajectory."""
    return f"/v1/trajectories/{trajectory_id}"
