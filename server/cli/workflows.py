"""``farhand workflow``: what trajectories are recordings of."""

import json
from typing import Any, BinaryIO
from uuid import UUID

import click

from server.cli.client import Api, api_options, printable

SCHEMA_FILE = "A JSON file of what values a run brings, as farhand workflow schema takes it."
MOST_SCHEMA_BYTES = 64 * 1024
COLUMNS = ("id", "name", "description", "created_at", "updated_at")


@click.group()
def workflow() -> None:
    """Workflows: what trajectories are recordings of."""


@workflow.command("add")
@click.argument("name")
@click.option("--description", help="What it does.")
@click.option("--input-schema", type=click.File("rb"), help=SCHEMA_FILE)
@api_options
def add_workflow(
    api: Api, name: str, description: str | None, input_schema: BinaryIO | None
) -> None:
    """Add a workflow and print its id."""
    body: dict[str, Any] = {"name": name}
    if description is not None:
        body["description"] = description
    if input_schema is not None:
        body["input_schema"] = _read(input_schema)
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
    for name, parameter in (found["input_schema"] or {}).items():
        said = {each: value for each, value in parameter.items() if value not in (None, False)}
        click.echo(printable(f"{'input:':12} {name} {json.dumps(said)}"))


@workflow.command("rename")
@click.argument("workflow_id", metavar="ID", type=click.UUID)
@click.argument("name")
@api_options
def rename_workflow(api: Api, workflow_id: UUID, name: str) -> None:
    """Give a workflow another name."""
    api.show_changed(api.call("PATCH", address(workflow_id), {"name": name}))


@workflow.command("describe")
@click.argument("workflow_id", metavar="ID", type=click.UUID)
@click.argument("description")
@api_options
def describe_workflow(api: Api, workflow_id: UUID, description: str) -> None:
    """Say what a workflow does; an empty text takes its description away."""
    body = {"description": description or None}
    api.show_changed(api.call("PATCH", address(workflow_id), body))


@workflow.command("schema")
@click.argument("workflow_id", metavar="ID", type=click.UUID)
@click.argument("file", type=click.File("rb"))
@api_options
def set_input_schema(api: Api, workflow_id: UUID, file: BinaryIO) -> None:
    """Say by FILE (- is standard input) what values a run brings; null takes that away.

    A JSON object of names to what each value may be, such as {"order": {"type": "integer",
    "example": "4711", "max_length": 10}}.
    """
    api.show_changed(api.call("PATCH", address(workflow_id), {"input_schema": _read(file)}))


def _read(file: BinaryIO) -> Any:
    try:
        return json.loads(file.read(MOST_SCHEMA_BYTES))
    except ValueError as error:
        raise click.ClickException(f"this is not JSON: {error}") from None


@workflow.command("remove")
@click.argument("workflow_id", metavar="ID", type=click.UUID)
@api_options
def remove_workflow(api: Api, workflow_id: UUID) -> None:
    """Remove a workflow to which no trajectory refers."""
    api.call("DELETE", address(workflow_id))


def address(workflow_id: UUID) -> str:
    """Where the API has a workflow."""
    return f"/v1/workflows/{workflow_id}"
