"""``farhand machine``: the desktops, their state, and what was done on them."""

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from schemas.resources.machine_lists import STATES
from schemas.values.times import parse_time
from server.cli.client import Api, api_options, printable
from server.cli.durations import Duration, time_from_now
from server.cli.machine_files import add_from, adding, inviting
from server.cli.pools import change_all, pool_ids
from server.cli.token_files import token_file_options, token_file_writer

COLUMNS = (
    *("id", "name", "state", "reason", "since", "tags", "pools", "invitation", "round_trip_ms"),
    *("client", "platform"),
)
COMMAND_COLUMNS = ("accepted_at", "operation", "outcome", "code", "duration_ms", "token_name")
TROUBLE_COLUMNS = ("since", "until", "for", "kind", "reason")
LAST_COMMANDS = 10
ROTATION_SECONDS = 60.0
POLL_SECONDS = 0.3


@click.group()
def machine() -> None:
    """Machines: the desktops that take input."""


@machine.command("add")
@click.argument("machine_id", metavar="[ID]", required=False)
@click.option("--name", help="What people call it.")
@click.option("--tag", "tags", multiple=True, help="A word that it is found by; again for more.")
@click.option("--pool", "pools", multiple=True, help="A pool that it is put in; again for more.")
@click.option(
    "--from",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Add the machines of a CSV file with the columns id, name, tags and pools, and print id "
    "and token of each.",
)
@click.option("--codes", is_flag=True, help="With --from: print join codes in place of tokens.")
@click.option("--expires-in", type=Duration(), help="Of codes: such as 2h.  [default: 1h]")
@token_file_options
@api_options
def add_machine(
    api: Api,
    machine_id: str | None,
    name: str | None,
    tags: tuple[str, ...],
    pools: tuple[str, ...],
    file: Path | None,
    codes: bool,
    expires_in: timedelta | None,
    token_file: Path | None,
    force: bool,
) -> None:
    """Add a machine and print the token that it connects with; or many, from a file."""
    if (codes or expires_in) and not (codes and file):
        raise click.UsageError("--codes goes with --from, and --expires-in with --codes")
    if file is not None:
        if machine_id or name or tags or pools or token_file or api.as_json:
            raise click.UsageError("--from has all of it in the file: leave out everything else")
        add = inviting(api, expires_in) if codes else adding(api)
        add_from(api, file, add, "code" if codes else "token")
        return
    body = {"id": machine_id, "name": name, "tags": tags, "pool_ids": pool_ids(api, pools)}
    given = {field: value for field, value in body.items() if value is not None}
    with token_file_writer(token_file, force=force) as write:
        answer = api.call("POST", "/v1/machines", given)
        write(answer["token"]["token"])
    if token_file is not None:
        del answer["token"]["token"]
    if api.as_json or token_file is not None:
        api.show_one(answer, "id")
    else:
        api.show_one(answer["token"], "token")


@machine.command("invite")
@click.argument("machine_id", metavar="ID")
@click.option("--expires-in", type=Duration(), help="Such as 2h, at most 30d.  [default: 1h]")
@api_options
def invite_machine(api: Api, machine_id: str, expires_in: timedelta | None) -> None:
    """Print a code with which a host joins as this machine, once; it is added unless it is there.

    On the host: farhand-machine join --server URL --code CODE
    """
    invite(api, {"machine_id": machine_id}, expires_in)


def invite(api: Api, body: dict[str, Any], expires_in: timedelta | None) -> None:
    """Make an invitation, and print its code."""
    body = {**body, "expires_at": time_from_now(expires_in, "--expires-in")}
    given = {field: value for field, value in body.items() if value is not None}
    api.show_one(api.call("POST", "/v1/invitations", given), "code")


@machine.command("rotate")
@click.argument("machine_ids", metavar="ID...", nargs=-1, required=True)
@api_options
def rotate_token(api: Api, machine_ids: tuple[str, ...]) -> None:
    """Have machines make themselves new tokens; of one, wait until its old one has fallen."""
    if len(machine_ids) > 1:
        change_all(api, machine_ids, {"action": "rotate"})
        return
    (machine_id,) = machine_ids
    invitation = api.call("POST", f"{address(machine_id)}/rotate")
    ends_at = time.monotonic() + ROTATION_SECONDS
    while not invitation["used"]:
        if time.monotonic() > ends_at:
            raise click.ClickException(
                f"{machine_id} has not come back with a new token within {ROTATION_SECONDS:g} s: "
                "its old one is good until it does; its log says why, as where it has no token file"
            )
        time.sleep(POLL_SECONDS)
        invitation = api.call("GET", f"/v1/invitations/{invitation['id']}")
    api.show_changed(invitation)


@machine.command("list")
@click.option("--pool", help="In this pool, by name or id; several with commas between.")
@click.option("--tag", help="With this tag; several with commas between: with one of them.")
@click.option("--state", help=f"{', '.join(STATES)}; several with commas between.")
@click.option("--client-version", "version", help="With this version; several with commas between.")
@click.option("--outdated", is_flag=True, help="With a client that is older than the server.")
@click.option("--search", help="With each of these words in name, id, tags or reason.")
@click.option("--sort", help="id, name, state, created_at or version; with - before it downwards.")
@click.option("--watch", is_flag=True, help="Stay, and show every change as it happens.")
@api_options
def list_machines(api: Api, watch: bool, outdated: bool, **filters: str | None) -> None:
    """List the machines and how they are."""
    query = {name: value for name, value in filters.items() if value is not None}
    if outdated:
        query["outdated"] = "true"
    if watch and query:
        raise click.UsageError("--watch shows all machines: leave out the filters")
    if watch:
        # Imported late, as it imports the client library.
        from server.cli.live.machines import watch_machines  # noqa: PLC0415

        watch_machines(api)
    else:
        answer = api.call_list("/v1/machines", query)
        if not api.as_json:
            answer["items"] = [{**each, "client": client_of(each)} for each in answer["items"]]
        api.show(answer, COLUMNS)


@machine.command("show")
@click.argument("machine_id", metavar="ID")
@api_options
def show_machine(api: Api, machine_id: str) -> None:
    """Show everything about a machine, and what was done on it last."""
    path = address(machine_id)
    found = api.call("GET", path)
    commands = api.call("GET", f"{path}/commands?limit={LAST_COMMANDS}")
    if api.as_json:
        click.echo(json.dumps({**found, "commands": commands["items"]}))
        return
    for line in described(found, datetime.now(UTC)):
        click.echo(printable(line))
    if commands["items"]:
        click.echo()
        api.show(commands, COMMAND_COLUMNS)


@machine.command("trouble")
@click.argument("machine_id", metavar="ID")
@api_options
def show_trouble(api: Api, machine_id: str) -> None:
    """List what was wrong with a machine in the last 30 days, the latest first."""
    answer = api.call_list(f"{address(machine_id)}/trouble")
    if not api.as_json:
        answer["items"] = [{**each, "for": span(each["seconds"])} for each in answer["items"]]
    api.show(answer, TROUBLE_COLUMNS)


@machine.command("rename")
@click.argument("machine_id", metavar="ID")
@click.argument("name")
@api_options
def rename_machine(api: Api, machine_id: str, name: str) -> None:
    """Give a machine another name; its id stays."""
    api.show_changed(api.call("PATCH", address(machine_id), {"name": name}))


@machine.command("tag")
@click.argument("machine_id", metavar="ID")
@click.argument("tags", metavar="TAG...", nargs=-1, required=True)
@api_options
def tag_machine(api: Api, machine_id: str, tags: tuple[str, ...]) -> None:
    """Give a machine tags, beside those that it has."""
    change_all(api, (machine_id,), {"action": "tag", "tags": tags})


@machine.command("untag")
@click.argument("machine_id", metavar="ID")
@click.argument("tags", metavar="TAG...", nargs=-1, required=True)
@api_options
def untag_machine(api: Api, machine_id: str, tags: tuple[str, ...]) -> None:
    """Take tags from a machine."""
    change_all(api, (machine_id,), {"action": "untag", "tags": tags})


@machine.command("pause")
@click.argument("machine_id", metavar="ID")
@click.option("--reason", "pause_reason", help="Why, for whoever is refused: up to 200 characters.")
@click.option(
    "--for",
    "duration",
    type=Duration(),
    help="Such as 30m, at most 30d, after which it is resumed by itself.",
)
@api_options
def pause_machine(
    api: Api, machine_id: str, pause_reason: str | None, duration: timedelta | None
) -> None:
    """End what runs on a machine, and let it take no further input until it is resumed."""
    details = {"pause_reason": pause_reason, "pause_until": time_from_now(duration, "--for")}
    given = {field: value for field, value in details.items() if value is not None}
    change(api, machine_id, {"paused": True, **given})


@machine.command("expect-offline")
@click.argument("machine_id", metavar="ID")
@click.option("--reason", help="Why, for whoever looks: up to 200 characters.")
@click.option("--for", "duration", type=Duration(), required=True, help="Such as 2h, at most 30d.")
@api_options
def expect_offline(api: Api, machine_id: str, reason: str | None, duration: timedelta) -> None:
    """Let no webhook be told of a machine that is away, for a while."""
    body = {"until": time_from_now(duration, "--for"), "reason": reason}
    api.show_changed(api.call("PUT", f"/v1/machines/{machine_id}/expected-offline", body))


@machine.command("resume")
@click.argument("machine_id", metavar="ID")
@api_options
def resume_machine(api: Api, machine_id: str) -> None:
    """Let a paused machine take input again."""
    change(api, machine_id, {"paused": False})


@machine.command("remove")
@click.argument("machine_id", metavar="ID")
@api_options
def remove_machine(api: Api, machine_id: str) -> None:
    """Remove a machine, its tokens and its link."""
    api.call("DELETE", address(machine_id))


def address(machine_id: str) -> str:
    """Where the API has a machine."""
    return f"/v1/machines/{quote(machine_id, safe='')}"


def change(api: Api, machine_id: str, body: dict[str, object]) -> None:
    """Pause or resume, and say how the machine is then."""
    found = api.call("PATCH", address(machine_id), body)
    if api.as_json:
        click.echo(json.dumps(found))
    else:
        click.echo(printable(f"{found['state']}: {found['reason']}"))


def described(found: Any, now: datetime) -> list[str]:
    """What is known of a machine, as lines for people."""
    displays = ", ".join(
        f"{each['width']}x{each['height']} at {each['x']},{each['y']}" for each in found["displays"]
    )
    screen, invitation = found["screen"], found["invitation"]
    inputs = found["inputs"]
    facts = {
        "id": found["id"],
        "name": found["name"],
        "state": f"{found['state']} for {ago(found['since'], now)}: {found['reason']}",
        "round trip": found["round_trip_ms"] and f"{found['round_trip_ms']} ms",
        "tags": " ".join(found["tags"]) or None,
        "pools": ", ".join(each["name"] for each in found["pools"]) or None,
        "joined with": invitation and f"invitation {invitation['name'] or invitation['id']}",
        "platform": found["platform"],
        "client": client_of(found),
        "displays": displays or None,
        "screen": "can be seen" if screen["available"] else f"not to be seen: {screen['reason']}",
        "inputs": f"{inputs['completed']} completed, {inputs['failed']} failed",
        "last input": found["last_input_at"] and f"{ago(found['last_input_at'], now)} ago",
        "added": found["created_at"],
    }
    return [f"{name + ':':12} {value}" for name, value in facts.items() if value is not None]


def client_of(found: Any) -> str | None:
    """The version of a machine's client, and whether the server is ahead of it."""
    version: str | None = found["client_version"]
    return f"{version} (outdated)" if found["outdated"] else version


def ago(time: str, now: datetime) -> str:
    """How long ago that was, in its two largest units."""
    return span((now - parse_time(time)).total_seconds())


def span(length: float) -> str:
    """So many seconds, in the two largest units."""
    minutes, seconds = divmod(max(int(length), 0), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s")]
    first = next((place for place, (count, _) in enumerate(parts) if count), 3)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2])
