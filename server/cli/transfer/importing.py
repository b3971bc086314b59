"""``farhand trajectory import``: all lines of a file, those that are wrong named."""

import json
from collections.abc import Iterator
from io import BytesIO
from tempfile import TemporaryFile
from typing import BinaryIO, Final

import click

from schemas.resources.trajectories import MAX_TRAJECTORY_BYTES, MAX_TRAJECTORY_VALUES
from schemas.values.json_values import count_values
from server.cli.client import Api
from server.cli.transfer.connection import CHUNK_BYTES, Transfer
from server.cli.transfer.exporting import progress_bar
from server.cli.transfer.line_import import LineImporter, Outcome
from server.cli.transfer.long_lines import LineError

BATCH_LINES: Final = 1000
BATCH_BYTES: Final = 4 * 1024 * 1024
"""So much is sent in one request, where single lines are no longer than that."""


def import_lines(api: Api, file: BinaryIO) -> None:
    """Import what can be, say what came of it, and end the program where a line is wrong."""
    done = dict.fromkeys(Outcome, 0)
    wrong = []
    with progress_bar() as progress, Transfer(api) as transfer:
        task = progress.add_task("importing", total=_size(file))
        importer = LineImporter(transfer, lambda size: progress.update(task, advance=size))
        for number, end, outcome in _imported(importer, file):
            if isinstance(outcome, LineError):
                wrong.append({"line": number, "error": str(outcome)})
                progress.console.print(f"line {number}: {outcome}", markup=False, soft_wrap=True)
            else:
                done[outcome] += 1
            progress.update(task, completed=end)
    counts = {outcome.name.lower(): count for outcome, count in done.items()}
    if api.as_json:
        click.echo(json.dumps({**counts, "wrong": wrong}))
    else:
        said = [f"{count} {outcome.value}" for outcome, count in done.items()]
        click.echo(", ".join([*said, f"{len(wrong)} wrong"]), err=True)
    if wrong:
        raise SystemExit(1)


def _imported(
    importer: LineImporter, file: BinaryIO
) -> Iterator[tuple[int, int, Outcome | LineError]]:
    """What became of each line, with its number and where it ends."""
    batch: list[tuple[int, int, bytes]] = []

    def together() -> Iterator[tuple[int, int, Outcome | LineError]]:
        if batch:
            outcomes = importer.short([line for _, _, line in batch])
            for (number, end, _), outcome in zip(batch, outcomes, strict=True):
                yield number, end, outcome
            batch.clear()

    size = 0
    for number, end, line in _lines(file):
        if not isinstance(line, bytes) or not _fits(line):
            yield from together()
            yield number, end, _long(importer, BytesIO(line) if isinstance(line, bytes) else line)
            continue
        if len(batch) == BATCH_LINES or size + len(line) > BATCH_BYTES:
            yield from together()
        size = len(line) + (size if batch else 0)
        batch.append((number, end, line))
    yield from together()


def _fits(line: bytes) -> bool:
    """Whether a line that is short enough for a request holds no more values than it may."""
    # A value and its comma are two bytes at least, so most lines need no counting.
    return len(line) <= 2 * MAX_TRAJECTORY_VALUES or count_values(line) <= MAX_TRAJECTORY_VALUES


def _long(importer: LineImporter, line: BinaryIO) -> Outcome | LineError:
    try:
        return importer.long(line)
    except LineError as error:
        return error


def _lines(file: BinaryIO) -> Iterator[tuple[int, int, bytes | BinaryIO]]:
    """The lines that are not blank, each with its number and where it ends.

    One that is too long for a request is a file of its own, so that it can be read twice.
    """
    number = end = 0
    while line := file.readline(MAX_TRAJECTORY_BYTES + 1):
        number += 1
        end += len(line)
        if len(line) <= MAX_TRAJECTORY_BYTES or line.endswith(b"\n"):
            if line.strip():
                yield number, end, line
            continue
        with TemporaryFile() as long_line:
            long_line.write(line)
            while not line.endswith(b"\n") and (line := file.readline(CHUNK_BYTES)):
                long_line.write(line)
            end += long_line.tell() - MAX_TRAJECTORY_BYTES - 1
            yield number, end, long_line


def _size(file: BinaryIO) -> int | None:
    if not file.seekable():
        return None
    size = file.seek(0, 2)
    file.seek(0)
    return size
