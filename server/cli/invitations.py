"""``farhand invitation``: codes with which hosts become machines, and the hosts that came."""

from datetime import timedelta

import click

from server.cli.client import Api, api_options
from server.cli.durations import Duration
from server.cli.machines import invite
from server.cli.pools import pool_ids

COLUMNS = (
    *("id", "name", "machine_id", "tags", "pools", "used", "uses", "approval", "expires_at"),
    "created_by",
)
JOIN_COLUMNS = ("id", "host", "address", "state", "machine_id", "created_at")


@click.group()
def invitation() -> None:
    """Invitations: codes with which hosts become machines."""


@invitation.command("create")
@click.option("--name", help="What for.")
@click.option("--uses", type=int, default=1, show_default=True, help="How many hosts may join.")
@click.option("--expires-in", type=Duration(), help="Such as 2h, at most 30d.  [default: 1h]")
@click.option("--tag", "tags", multiple=True, help="What each is found by; again for more.")
@click.option("--pool", "pools", multiple=True, help="A pool that each is put in; again for more.")
@click.option("--approval", is_flag=True, help="Let each host wait until it is approved.")
@api_options
def create_invitation(
    api: Api,
    name: str | None,
    uses: int,
    expires_in: timedelta | None,
    tags: tuple[str, ...],
    pools: tuple[str, ...],
    approval: bool,
) -> None:
    """Print a code with which hosts join, each as a new machine of its own name."""
    given = {"tags": tags, "pool_ids": pool_ids(api, pools)}
    invite(api, {"name": name, "uses": uses, "approval": approval, **given}, expires_in)


@invitation.command("list")
@api_options
def list_invitations(api: Api) -> None:
    """List the invitations that can still be used."""
    api.show(api.call_list("/v1/invitations"), COLUMNS)


@invitation.command("show")
@click.argument("invitation_id", metavar="ID")
@api_options
def show_joins(api: Api, invitation_id: str) -> None:
    """List the hosts that came with an invitation."""
    api.show(api.call_list(f"/v1/invitations/{invitation_id}/joins"), JOIN_COLUMNS)


@invitation.command("revoke")
@click.argument("invitation_id", metavar="ID")
@api_options
def revoke_invitation(api: Api, invitation_id: str) -> None:
    """Let nobody else join with an invitation; who has joined stays."""
    api.call("DELETE", f"/v1/invitations/{invitation_id}")


@invitation.command("approve")
@click.argument("invitation_id", metavar="ID")
@click.argument("join_id", metavar="HOST_ID")
@api_options
def approve_join(api: Api, invitation_id: str, join_id: str) -> None:
    """Let a host in that waits."""
    _decide(api, invitation_id, join_id, approved=True)


@invitation.command("refuse")
@click.argument("invitation_id", metavar="ID")
@click.argument("join_id", metavar="HOST_ID")
@api_options
def refuse_join(api: Api, invitation_id: str, join_id: str) -> None:
    """Refuse a host that waits, for ever."""
    _decide(api, invitation_id, join_id, approved=False)


def _decide(api: Api, invitation_id: str, join_id: str, *, approved: bool) -> None:
    path = f"/v1/invitations/{invitation_id}/joins/{join_id}"
    api.show_changed(api.call("PATCH", path, {"approved": approved}))
