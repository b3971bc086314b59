"""``farhand recording``: what is done on machines becomes the steps of trajectories."""

import click

from server.cli.client import Api, api_options, printable

COLUMNS = (
    *("id", "machine_id", "state", "steps", "gaps", "secrets", "by", "since", "reason"),
    "trajectory_id",
)


@click.group()
def recording() -> None:
    """Recordings: what is done on machines becomes the steps of trajectories."""


@recording.command("start")
@click.argument("machine_id", metavar="MACHINE")
@click.option("--workflow", help="The id of its workflow; without it, a new one is made.")
@click.option("--name", help="What the trajectory is called.")
@click.option("--mine", is_flag=True, help="Only inputs that come with the token used now.")
@click.option(
    "--keep-texts",
    is_flag=True,
    help="Keep what is typed also where the field may be a password's, and the pictures beside it.",
)
@api_options
def start_recording(
    api: Api, machine_id: str, workflow: str | None, name: str | None, mine: bool, keep_texts: bool
) -> None:
    """Record a machine from now on, and print the recording's id."""
    body = {
        "workflow_id": workflow,
        "name": name,
        "of": "me" if mine else "everybody",
        "keep_texts": keep_texts,
    }
    api.show_one(api.call("POST", f"/v1/machines/{machine_id}/recordings", body), "id")


@recording.command("list")
@click.option("--machine", "machine_id", help="Only those of this machine.")
@click.option("--state", type=click.Choice(["recording", "stopped"]), help="Only those.")
@api_options
def list_recordings(api: Api, machine_id: str | None, state: str | None) -> None:
    """List the recordings, newest first."""
    asked = {"machine_id": machine_id, "state": state}
    query = {name: value for name, value in asked.items() if value is not None}
    api.show(api.call_list("/v1/recordings", query), COLUMNS)


@recording.command("show")
@click.argument("recording_id", metavar="RECORDING")
@api_options
def show_recording(api: Api, recording_id: str) -> None:
    """Show a recording."""
    api.show({"items": [api.call("GET", f"/v1/recordings/{recording_id}")]}, COLUMNS)


@recording.command("secret")
@click.argument("recording_id", metavar="RECORDING")
@click.option("--off", is_flag=True, help="It is no secret any more.")
@api_options
def type_secret(api: Api, recording_id: str, off: bool) -> None:
    """Have what is typed from now on be a secret, until it is said to be none any more."""
    changed = api.call("POST", f"/v1/recordings/{recording_id}/secret", {"on": not off})
    api.show_one(changed, "secret")


@recording.command("stop")
@click.argument("recording_id", metavar="RECORDING")
@api_options
def stop_recording(api: Api, recording_id: str) -> None:
    """Stop a recording, and print the id of its trajectory, which has all its steps then."""
    ended = api.call("POST", f"/v1/recordings/{recording_id}/stop")
    api.show_one(ended, "trajectory_id")
    if ended["gaps"]:
        click.echo(printable(f"{ended['gaps']} steps mark that something is missing"), err=True)
