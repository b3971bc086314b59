"""``farhand machine add --from FILE.csv``: many machines at once, each line for itself.

The head row names the columns: ``id``, and ``name``, ``tags`` and ``pools`` as far as they are
wanted.  Tags stand with spaces between, the names of pools with semicolons.  What is wrong with a
line is said of it, and the others go on.  Each machine is printed as soon as it is there, so that
whoever is interrupted has the secrets of all that were added.
"""

import csv
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import click

from server.cli.client import Api, printable
from server.cli.durations import time_from_now

COLUMNS: Final = ("id", "name", "tags", "pools")
LARGEST_BYTES: Final = 16 * 1024 * 1024

Add = Callable[[dict[str, Any]], str]
"""Adds a machine, and returns the secret with which it connects."""


def add_from(api: Api, file: Path, add: Add, secret: str) -> None:
    """Add the machines of a file, and print for each its id, and its ``secret``.

    Raises a ClickException for a file that cannot be read; exits with 1 where lines are wrong.
    """
    lines = list(_lines(file))
    pools = {each["name"]: each["id"] for each in api.call_list("/v1/pools")["items"]}
    click.echo(f"id,{secret}")
    wrong = 0
    for number, line in lines:
        try:
            body = _body(line, pools)
            click.echo(f"{body['id']},{add(body)}")
        except click.ClickException as error:
            wrong += 1
            click.echo(printable(f"line {number}: {error.message}"), err=True)
    if wrong:
        click.echo(f"{wrong} of {len(lines)} machines were not added", err=True)
        raise click.exceptions.Exit(1)


def adding(api: Api) -> Add:
    """Adds machines with a token each."""

    def add(body: dict[str, Any]) -> str:
        return str(api.call("POST", "/v1/machines", body)["token"]["token"])

    return add


def inviting(api: Api, expires_in: timedelta | None) -> Add:
    """Adds machines that join with a code each, and have a token then that nobody has carried."""
    end = time_from_now(expires_in, "--expires-in")

    def invite(body: dict[str, Any]) -> str:
        wanted = {**body, "machine_id": body["id"], "expires_at": end}
        name = wanted.pop("name", None)
        del wanted["id"]
        given = {field: value for field, value in wanted.items() if value is not None}
        code = str(api.call("POST", "/v1/invitations", given)["code"])
        if name is not None:
            path = f"/v1/machines/{quote(body['id'], safe='')}"
            api.call("PATCH", path, {"name": name})
        return code

    return invite


def _lines(file: Path) -> Iterator[tuple[int, dict[str | None, Any]]]:
    """The lines of a file by their numbers, each cell by its column."""
    text = _text(file)
    head = text.partition("\n")[0]
    # What spreadsheets write where the comma stands in numbers.
    delimiter = ";" if ";" in head and "," not in head else ","
    reader = csv.DictReader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = [each.strip().lower() for each in reader.fieldnames or ()]
        unknown = [each for each in columns if each not in COLUMNS]
        if unknown or "id" not in columns or len(columns) != len(set(columns)):
            raise click.ClickException(
                f"{file}: the first line has to name the columns: id, and name, tags and pools as "
                "wanted, each once"
            )
        reader.fieldnames = columns
        for line in reader:
            yield reader.line_num, line
    except csv.Error as error:
        raise click.ClickException(f"{file}, behind line {reader.line_num}: {error}") from None


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > LARGEST_BYTES:
            raise click.ClickException(f"{file} is larger than 16 MiB")
        return file.read_text("utf-8-sig")
    except OSError as error:
        raise click.ClickException(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise click.ClickException(f"{file} is no text in UTF-8") from None


def _body(line: Mapping[str | None, Any], pools: Mapping[str, str]) -> dict[str, Any]:
    """What is asked of the server for a line."""
    if None in line or None in line.values():
        raise click.ClickException("it has more cells than columns, or less")
    cells = {str(column): value.strip() for column, value in line.items()}
    if not cells["id"]:
        raise click.ClickException("it has no id")
    names = [each.strip() for each in cells.get("pools", "").split(";") if each.strip()]
    if missing := [each for each in names if each not in pools]:
        raise click.ClickException(f"there is no pool {missing[0]}: farhand pool add makes one")
    body = {
        "id": cells["id"],
        "name": cells.get("name") or None,
        "tags": cells.get("tags", "").split(),
        "pool_ids": [pools[each] for each in names],
    }
    return {field: value for field, value in body.items() if value is not None}
