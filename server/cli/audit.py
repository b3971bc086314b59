"""``farhand audit``: who did what, to what and when."""

import json
import sys
from typing import Any, Final
from uuid import UUID

import click

from schemas.resources.audit import CSV_COLUMNS, csv_line_of
from schemas.values.csv_lines import csv_line
from server.cli.client import Api, api_options, print_table, printable
from server.cli.durations import Moment

PATH: Final = "/v1/audit"
COLUMNS: Final = (
    *("created_at", "token_name", "action", "machine_id", "target", "outcome", "code", "note"),
)
MOST: Final = 100_000
"""How far the server counts: beyond, nobody pages through them."""


def _filter(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    # In a query both mean that nothing is asked for: everything would come.
    if value in ("", "null"):
        raise click.BadParameter("must be something to look for", param=parameter)
    return value


@click.command()
@click.option("--machine", "machine_id", callback=_filter, help="What was done on this machine.")
@click.option("--by", callback=_filter, help="Who did it: the name of a token, or its id.")
@click.option(
    "--action",
    callback=_filter,
    help="What was done, such as machine.paused; machine is all of these, input every input.",
)
@click.option("--since", type=Moment(), help="Such as 2h, or 2026-11-21T09:30Z.")
@click.option("--until", type=Moment(), help="The same.")
@click.option(
    "--limit",
    type=click.IntRange(1, MOST),
    default=100,
    show_default=True,
    help="The newest so many.",
)
@click.option("--follow", is_flag=True, help="Stay, and show each as it happens, the newest last.")
@click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated values.")
@api_options
def audit(
    api: Api,
    machine_id: str | None,
    by: str | None,
    action: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    follow: bool,
    as_csv: bool,
) -> None:
    """Show who did what, to what and when, newest first."""
    if as_csv and api.as_json:
        raise click.UsageError("--csv and --json: choose one")
    if follow and until is not None:
        raise click.UsageError("--follow has no end: leave out --until")
    asked = {
        "machine_id": machine_id,
        **_by(by),
        "action": action,
        "created_at_from": since,
        "created_at_to": until,
    }
    query = {name: value for name, value in asked.items() if value is not None}
    # Before anything is followed: what is asked wrongly is refused here, and not asked again.
    found = api.call_list(PATH, query, limit)
    if as_csv:
        _write_csv(csv_line(CSV_COLUMNS))
    if not follow:
        _show_list(api, found, as_csv=as_csv)
        return
    # Imported late, as it imports the client library.
    from server.cli.live.entries import follow_entries  # noqa: PLC0415

    follow_entries(
        *(api, query, lambda: api.call_list(PATH, query, limit)),
        lambda entry: _show(entry, as_json=api.as_json, as_csv=as_csv),
    )


def _show_list(api: Api, found: Any, *, as_csv: bool) -> None:
    items, total = found["items"], found["total"]
    if as_csv:
        for entry in items:
            _write_csv(csv_line_of(entry))
    elif api.as_json:
        api.show(found, COLUMNS)
    else:
        print_table([_row(entry) for entry in items], COLUMNS)
    if len(items) < total and not api.as_json:
        more = " or more" if total >= MOST else ""
        click.echo(f"the newest {len(items)} of {total}{more}: --limit shows others", err=True)


def _row(entry: Any) -> dict[str, Any]:
    """An entry as a table has it: what it was done to once, by its name where it has one."""
    target = entry["target_name"] or entry["target"]
    return {
        **(entry["command"] or {}),
        **entry,
        "target": None if target == entry["machine_id"] else target,
    }


def _write_csv(line: str) -> None:
    """Write a line as it is, but to a terminal, which nothing in it may steer."""
    is_shown = sys.stdout.isatty()
    sys.stdout.write(printable(line.rstrip("\r\n")) + "\n" if is_shown else line)


def _show(entry: Any, *, as_json: bool, as_csv: bool) -> None:
    """Write one entry as a line, at once."""
    if as_csv:
        _write_csv(csv_line_of(entry))
    elif as_json:
        sys.stdout.write(json.dumps(entry) + "\n")
    else:
        row = _row(entry)
        facts = (str(row[name]) for name in COLUMNS if row.get(name))
        sys.stdout.write(printable("  ".join(facts)) + "\n")
    sys.stdout.flush()


def _by(who: str | None) -> dict[str, str | None]:
    """Whom a request asks for."""
    try:
        return {"token_id": who and str(UUID(who))}
    except ValueError:
        return {"token_name": who}
