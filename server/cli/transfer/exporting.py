"""``farhand trajectory export``: all trajectories into a file, oldest first, one a line."""

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import urlencode

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from farhand import NoAnswer
from schemas.http.queries import MAX_SKIP
from schemas.resources.trajectories import MAX_TRAJECTORY_BYTES
from server.cli.client import Api
from server.cli.transfer.connection import (
    CHUNK_BYTES,
    PAUSES,
    Transfer,
    write,
)
from server.cli.transfer.long_lines import scanned

PATH: Final = "/v1/trajectories"


def progress_bar() -> Progress:
    """A bar with what is done, in percent, and the time that is left."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )


def export_lines(api: Api, file: Path, query: dict[str, str]) -> None:
    """Export what fits the query, and say how many lines the file has."""
    with Transfer(api) as transfer:
        if str(file) == "-":
            count = _Export(transfer, query, sys.stdout.buffer).run(0, {})
        else:
            count = _to_file(transfer, query, file, _part_of(file, api, query))
    # Standard output may be the lines themselves.
    said = json.dumps({"exported": count}) if api.as_json else f"{count} exported"
    click.echo(said, err=not api.as_json or str(file) == "-")


def _part_of(file: Path, api: Api, query: dict[str, str]) -> Path:
    """Where the lines are written first: another place for another server and query."""
    what = hashlib.sha256(json.dumps([api.url, query], sort_keys=True).encode()).hexdigest()
    if not file.name:
        raise click.UsageError("FILE must be the name of a file, or - for standard output")
    return file.with_name(f"{file.name}.{what[:8]}.part")


def _to_file(transfer: Transfer, query: dict[str, str], file: Path, part: Path) -> int:
    try:
        with part.open("a+b") as output:
            count, after = _resumed(output)
            count = _Export(transfer, query, output).run(count, after)
            output.flush()
            os.fsync(output.fileno())
        part.replace(file)
    except OSError as error:
        raise click.ClickException(
            f"cannot write {error.filename or part}: {error.strerror or error}"
        ) from None
    return count


class _Export:
    """Writes lines as they come, and goes on after the last whole one when they do not."""

    def __init__(self, transfer: Transfer, query: dict[str, str], output: BinaryIO) -> None:
        self._transfer = transfer
        self._query = query
        self._output = output

    def run(self, count: int, after: dict[str, str]) -> int:
        """Write all lines after the one named; how many there are then."""
        with progress_bar() as progress:
            task = progress.add_task("exporting", total=self._total(), completed=count)
            for pause in (*PAUSES, None):
                try:
                    return self._once(count, after, lambda: progress.update(task, advance=1))
                except NoAnswer:
                    # What was written to a pipe cannot be taken back.
                    if pause is None or not self._output.seekable():
                        raise
                time.sleep(pause)
                count, after = _resumed(self._output)
        raise AssertionError("the last try either returns or raises")

    def _total(self) -> int:
        query = {**self._query, "skip": MAX_SKIP, "limit": 1}
        return int(self._transfer.send("GET", f"{PATH}?{urlencode(query)}").json["total"])

    def _once(self, count: int, after: dict[str, str], advance: Callable[[], None]) -> int:
        query = urlencode({**self._query, **after})
        with self._transfer.opened(f"{PATH}/export?{query}") as (_, chunks):
            for chunk in chunks:
                write(self._output, chunk)
                for _ in range(chunk.count(b"\n")):
                    count += 1
                    advance()
        return count


def _resumed(output: BinaryIO) -> tuple[int, dict[str, str]]:
    """Cut off what is no whole line; how many lines there are, and after which to go on."""
    output.seek(0)
    count = begin = end = place = 0
    while chunk := output.read(CHUNK_BYTES):
        lines = chunk.count(b"\n")
        if lines:
            last = chunk.rindex(b"\n")
            before = chunk.rfind(b"\n", 0, last)
            begin = end if before < 0 else place + before + 1
            end = place + last + 1
        count += lines
        place += len(chunk)
    output.truncate(end)
    if not count:
        return 0, {}
    output.seek(begin)
    with closing(scanned(output, MAX_TRAJECTORY_BYTES)) as members:
        first = {}
        for name, text in members:
            if name in ("id", "created_at"):
                first[name] = json.loads(text)
            if len(first) == 2:
                break
    output.seek(0, 2)
    return count, {"after_id": first["id"], "after_created_at": first["created_at"]}
