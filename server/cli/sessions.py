"""``farhand session``: browsers that are signed in to the console."""

from uuid import UUID

import click

from server.cli.client import Api, api_options

COLUMNS = (
    *("id", "token_name", "token_id", "user_agent"),
    *("created_at", "last_used_at", "expires_at"),
)


@click.group()
def session() -> None:
    """Sessions: browsers that are signed in to the console."""


@session.command("list")
@click.option("--token-id", type=click.UUID, help="Those of this token alone.")
@api_options
def list_sessions(api: Api, token_id: UUID | None) -> None:
    """List the sessions of the console that open something yet."""
    query = None if token_id is None else {"token_id": str(token_id)}
    api.show(api.call_list("/v1/sessions", query), COLUMNS)


@session.command("end")
@click.argument("session_id", metavar="ID", type=click.UUID)
@api_options
def end_session(api: Api, session_id: UUID) -> None:
    """Sign a browser out: within a second or two, everywhere; its token stays good."""
    api.call("DELETE", f"/v1/sessions/{session_id}")
