"""``farhand help``: what programs ask people, and the answers."""

from typing import Final

import click

from server.cli.client import Api, api_options

COLUMNS: Final = (
    *("id", "machine_id", "kind", "reason", "state", "by", "created_at", "expires_at"),
    *("answer", "comment", "answered_by"),
)


@click.group()
def help() -> None:  # noqa: A001 - the command's name
    """Programs ask people for help or approval; somebody else answers."""


@help.command("list")
@click.option("--machine", "machine_id", help="Only those about this machine.")
@click.option(
    "--state",
    type=click.Choice(["open", "answered", "withdrawn", "timed_out"]),
    help="Only those; open: what waits for an answer.",
)
@api_options
def list_help(api: Api, machine_id: str | None, state: str | None) -> None:
    """List what was asked, newest first."""
    asked = {"machine_id": machine_id, "state": state}
    query = {name: value for name, value in asked.items() if value is not None}
    api.show(api.call_list("/v1/help", query), COLUMNS)


@help.command("show")
@click.argument("help_id", metavar="ID")
@api_options
def show_help(api: Api, help_id: str) -> None:
    """Show what was asked, and what became of it."""
    api.show({"items": [api.call("GET", f"/v1/help/{help_id}")]}, COLUMNS)


@help.command("answer")
@click.argument("help_id", metavar="ID")
@click.argument("answer", type=click.Choice(["done", "cannot", "approve", "deny"]))
@click.option("--comment", help="For the program, and whoever reads it later.")
@api_options
def answer_help(api: Api, help_id: str, answer: str, comment: str | None) -> None:
    """Answer: done or cannot to help, approve or deny to approval."""
    body = {"answer": answer, "comment": comment}
    api.show_changed(api.call("POST", f"/v1/help/{help_id}/answer", body))


@help.command("withdraw")
@click.argument("help_id", metavar="ID")
@api_options
def withdraw_help(api: Api, help_id: str) -> None:
    """End what the same token has asked: nobody has to answer it any more."""
    api.show_changed(api.call("POST", f"/v1/help/{help_id}/withdraw"))
