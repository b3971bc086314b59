"""``farhand organization``, ``token``, ``session`` and ``command``: who may do what, and did."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

import click

from schemas.resources.tokens import ROLE_SCOPES, Role, Scope
from server.cli.client import Api, api_options, printable
from server.cli.durations import Duration, time_from_now
from server.cli.pools import pool_ids
from server.cli.token_files import token_file_options, token_file_writer

USUAL_SCOPES = (Scope.INPUT_SEND, Scope.MACHINES_READ, Scope.TRAJECTORIES_READ)
"""What a program that drives machines needs: the scopes of a token that names none."""

ROLES_TOLD = "\b\nRoles, and the scopes of each:\n" + "\n".join(
    f"  {role}: {', '.join(scopes)}" for role, scopes in ROLE_SCOPES.items()
)
"""For the help of the command; the \b keeps its lines apart."""


@click.group()
def organization() -> None:
    """Organizations: everything belongs to one and sees nothing of the others."""


@organization.command("add")
@click.argument("name")
@api_options
def add_organization(api: Api, name: str) -> None:
    """Add an organization and print its id."""
    api.show_one(api.call("POST", "/v1/organizations", {"name": name}), "id")


@organization.command("list")
@api_options
def list_organizations(api: Api) -> None:
    """List your organization and those that were made from it."""
    columns = ("id", "name", "parent_id", "created_at")
    api.show(api.call_list("/v1/organizations"), columns)


@click.group()
def token() -> None:
    """Tokens: secrets that let a program in."""


@token.command("create", epilog=ROLES_TOLD)
@click.option("--name", required=True, help="What the token is for.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice([scope.value for scope in Scope]),
    help=f"What it allows; again for more.  [default: {', '.join(USUAL_SCOPES)}; with --machine: "
    "machine:connect]",
)
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    help="What it allows, in place of --scope: the scopes of this role, which are below.",
)
@click.option(
    "--organization", "organization_id", type=click.UUID, help="The id of another organization."
)
@click.option("--machine", "machine_id", help="The machine that it lets connect.")
@click.option(
    "--pool",
    "pools",
    multiple=True,
    metavar="POOL",
    help="A pool, by name or id: for the token no other machines exist; again for more.",
)
@click.option("--expires-in", type=Duration(), help="Such as 30d; never, if not given.")
@token_file_options
@api_options
def create_token(
    api: Api,
    name: str,
    scopes: tuple[str, ...],
    role: str | None,
    organization_id: UUID | None,
    machine_id: str | None,
    pools: tuple[str, ...],
    expires_in: timedelta | None,
    token_file: Path | None,
    force: bool,
) -> None:
    """Make a token and print it; it is shown this once."""
    body = {
        "name": name,
        **_what_it_allows(scopes, role, machine_id),
        "organization_id": organization_id and str(organization_id),
        "machine_id": machine_id,
        "pool_ids": pool_ids(api, pools) or None,
        "expires_at": time_from_now(expires_in, "--expires-in"),
    }
    given = {field: value for field, value in body.items() if value is not None}
    with token_file_writer(token_file, force=force) as write:
        answer = api.call("POST", "/v1/tokens", given)
        write(answer["token"])
    if token_file is not None:
        del answer["token"]
    api.show_one(answer, "token" if token_file is None else "id")


def _what_it_allows(
    scopes: tuple[str, ...], role: str | None, machine_id: str | None
) -> dict[str, object]:
    """The role or the scopes, as the request has them."""
    if role is None:
        usual = (Scope.MACHINE_CONNECT,) if machine_id else USUAL_SCOPES
        return {"scopes": list(scopes or usual)}
    if scopes or machine_id:
        raise click.UsageError(
            "--role stands for scopes of its own: leave out --scope and --machine"
        )
    return {"role": role}


@token.command("list")
@click.option(
    "--of-machines/--without-machines",
    "of_machines",
    default=None,
    help="Those of machines alone, or all others.  [default: all]",
)
@api_options
def list_tokens(api: Api, of_machines: bool | None) -> None:
    """List the tokens that are in force."""
    query = None if of_machines is None else {"of_machines": str(of_machines).lower()}
    columns = (
        "id",
        "name",
        "role",
        "scopes",
        "machine_id",
        "pool_ids",
        "expires_at",
        "last_used_at",
    )
    api.show(api.call_list("/v1/tokens", query), columns)


@token.command("revoke")
@click.argument("token_id", metavar="ID", type=click.UUID)
@api_options
def revoke_token(api: Api, token_id: UUID) -> None:
    """Revoke a token: within a second or two it works nowhere any more."""
    api.call("DELETE", f"/v1/tokens/{token_id}")


@click.group()
def session() -> None:
    """Sessions: browsers that are signed in to the console."""


@session.command("list")
@click.option("--token-id", type=click.UUID, help="Those of this token alone.")
@api_options
def list_sessions(api: Api, token_id: UUID | None) -> None:
    """List the sessions of the console that open something yet."""
    query = None if token_id is None else {"token_id": str(token_id)}
    columns = (
        *("id", "token_name", "token_id", "user_agent"),
        *("created_at", "last_used_at", "expires_at"),
    )
    api.show(api.call_list("/v1/sessions", query), columns)


@session.command("end")
@click.argument("session_id", metavar="ID", type=click.UUID)
@api_options
def end_session(api: Api, session_id: UUID) -> None:
    """Sign a browser out: within a second or two, everywhere; its token stays good."""
    api.call("DELETE", f"/v1/sessions/{session_id}")


@click.group()
def command() -> None:
    """Commands: inputs that the server accepted."""


@command.command("show")
@click.argument("command_id", metavar="ID", type=click.UUID)
@api_options
def show_command(api: Api, command_id: UUID) -> None:
    """Say what became of a command, such as one that was answered with outcome-pending."""
    found = api.call("GET", f"/v1/commands/{command_id}")
    if api.as_json:
        api.show_one(found, "state")
        return
    click.echo(f"{found['state']}{' (final)' if found['final'] else ''}")
    for name in ("operation", "machine_id", "accepted_at", "expires_at", "final_at"):
        if found[name] is not None:
            click.echo(f"{name.replace('_', ' ')}: {found[name]}")
    if (answer := found["answer"]) is not None:
        status, body = answer["status"], answer["body"]
        if status == 422:
            from farhand.errors import refused  # noqa: PLC0415 - the library is there by now

            said = str(refused(status, body))
        else:
            said = "" if body is None else body.get("detail") or body["status"]
        click.echo(printable(f"answer: {status} {said}").rstrip())
