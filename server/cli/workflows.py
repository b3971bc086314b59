"""``farhand workflow``: what trajectories are recordings of."""

import json
from uuid import UUID

import click

from server.cli.client import Api, api_options, printable

COLUMNS = ("id", "name", "description", "created_at", "updated_at")


@click.group()
def workflow() -> None:
    """Workflows: what trajectories are recordings of."""


@workflow.command("add")
@click.argument("name")
@click.option("--description", help="What it does.")
@api_options
def add_workflow(api: Api, name: str, description: str | None) -> None:
    """Add a workflow and print its id."""
    body = {"name": name, **({} if description is None else {"description": description})}
    api.show_one(api.call("POST", "/v1/workflows", body), "id")


@workflow.command("list")
@api_options
def list_workflows(api: Api) -> None:
    """List the workflows, newest first."""
    api.show(api.call_list("/v1/workflows"), COLUMNS)


@workflow.command("show")
@click.argument("workflow_id", metavar="ID", type=click.UUID)
@api_options
def show_workflow(api: Api, workflow_id: UUID) -> None:
    """Show a workflow."""
    found = api.call("GET", address(workflow_id))
    if api.as_json:
        click.echo(json.dumps(found))
        return
    for column in COLUMNS:
        if found[column] is not None:
            click.echo(printable(f"{column.replace('_', ' ') + ':':12} {found[column]}"))


@workflow.command("rename")
@click.argument("workflow_id", metavar="ID", type=click.UUID)
@click.argument("name")
@api_options
def rename_workflow(api: Api, workflow_id: UUID, name: str) -> None:
    """Give a workflow another name."""
    api.show_changed(api.call("PATCH", address(workflow_id), {"name": name}))


@workflow.command("remove")
@click.argument("workflow_id", metavar="ID", type=click.UUID)
@api_options
def remove_workflow(api: Api, workflow_id: UUID) -> None:
    """Remove a workflow to which no trajectory refers."""
    api.call("DELETE", address(workflow_id))


def address(workflow_id: UUID) -> str:
    """Where the API has a workflow."""
    return f"/v1/workflows/{workflow_id}"
