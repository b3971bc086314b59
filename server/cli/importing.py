"""``farhand trajectory import``: a file of trajectories, one JSON object a line."""

import json
from collections.abc import Iterator
from typing import BinaryIO

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from server.api.trajectories import MAX_TRAJECTORY_BYTES
from server.cli.client import Api, api_options, refusal


@click.group()
def trajectory() -> None:
    """Trajectories: recorded sequences of steps."""


@trajectory.command("import")
@click.argument("file", type=click.File("rb"))
@api_options
def import_trajectories(api: Api, file: BinaryIO) -> None:
    """Import trajectories from FILE (- is standard input), one JSON object a line.

    A line that is wrong is named with its number, nothing of it is kept, and the others go on.
    """
    imported, wrong = 0, []
    with _progress() as progress:
        task = progress.add_task("importing", total=_size(file))
        for number, line in _lines(file):
            if (complaint := _import_line(api, line)) is None:
                imported += 1
            else:
                wrong.append({"line": number, "error": complaint})
                progress.console.print(f"line {number}: {complaint}", markup=False, soft_wrap=True)
            progress.update(task, advance=len(line))
    if api.as_json:
        click.echo(json.dumps({"imported": imported, "wrong": wrong}))
    else:
        click.echo(f"{imported} imported, {len(wrong)} wrong", err=True)
    if wrong:
        raise SystemExit(1)


def _import_line(api: Api, line: bytes) -> str | None:
    """Send one line; None when it is kept, else what was wrong with it."""
    if len(line) > MAX_TRAJECTORY_BYTES:
        return f"longer than {MAX_TRAJECTORY_BYTES} bytes"
    response = api.send("POST", "/v1/trajectories", line)
    if response.code == 201:
        return None
    if response.code in (401, 403, 503):
        # This says nothing of the line, and the next one would fare the same.
        raise click.ClickException(refusal(response))
    return refusal(response)


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers; of one that is too long, the beginning."""
    number = 0
    while line := file.readline(MAX_TRAJECTORY_BYTES + 1):
        number += 1
        rest = line
        while not rest.endswith(b"\n") and (rest := file.readline(MAX_TRAJECTORY_BYTES)):
            pass
        if line.strip():
            yield number, line


def _size(file: BinaryIO) -> int | None:
    if not file.seekable():
        return None
    size = file.seek(0, 2)
    file.seek(0)
    return size


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
