"""Many runs out of a file, which is looked at as a whole before anything begins."""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click
from pydantic import ValidationError

from schemas.runs.bulk import MOST_RUNS
from schemas.runs.requests import NewRun
from schemas.values.validation_errors import entries_of, sentence

MACHINE_COLUMN: Final = "machine"
MOST_SAID: Final = 20


def runs_in(file: Path, common: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """The bodies of the runs in a file, each with the number of its line.

    In a table (.csv) a column is ``machine``, and each other one a value; in lines (.jsonl) each is
    an object, as the API takes it.  ``common`` is what a line does not say.  Raises ClickException,
    which names each line that is wrong.
    """
    read = _rows if file.suffix.lower() == ".csv" else _objects
    runs: list[tuple[int, dict[str, Any]]] = []
    wrong: list[str] = []
    try:
        for line, given in read(file):
            found = given if isinstance(given, str) else _why_wrong(_with(common, given))
            if isinstance(given, str) or found is not None:
                wrong.append(f"line {line}: {found}")
            else:
                runs.append((line, _with(common, given)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise click.ClickException(f"{file} cannot be read: {error}") from None
    if not wrong and not 1 <= len(runs) <= MOST_RUNS:
        wrong = [f"it has {len(runs):,} runs, and may have 1 to {MOST_RUNS:,}"]
    if wrong:
        raise refused(file, wrong)
    return runs


def refused(file: Path, wrong: list[str]) -> click.ClickException:
    """Nothing was begun, and why."""
    more = [f"and {len(wrong) - MOST_SAID:,} more"] if len(wrong) > MOST_SAID else []
    told = "\n".join(["no run was begun:", *wrong[:MOST_SAID], *more])
    return click.ClickException(f"{file}: {told}")


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    with file.open(encoding="utf-8-sig", newline="") as stream:
        rows = csv.DictReader(stream, restkey="", restval=None, strict=True)
        for row in rows:
            if "" in row or None in row.values():
                names = len(rows.fieldnames or ())
                yield rows.line_num, f"has another number of fields than the {names} of the head"
                continue
            machine = row.pop(MACHINE_COLUMN, "")
            run: dict[str, Any] = {"input_values": row}
            yield rows.line_num, {**run, "machine_id": machine} if machine else run


def _objects(file: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    with file.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                run = json.loads(line)
            except ValueError as error:
                yield number, f"is no JSON: {error}"
                continue
            yield number, run if isinstance(run, dict) else "is no object"


def _with(common: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """A run, and what all of them have in common, unless it says otherwise."""
    left_out = {"machine_id", "pool_ids"} if {"machine_id", "pool_ids"} & given.keys() else set()
    kept = {name: value for name, value in common.items() if name not in left_out}
    values = given.get("input_values", {})
    if isinstance(values, dict) and (both := {**kept.get("input_values", {}), **values}):
        kept, given = {**kept, "input_values": both}, {**given, "input_values": both}
    return {**kept, **given}


def _why_wrong(run: Mapping[str, Any]) -> str | None:
    try:
        NewRun.model_validate(run)
    except ValidationError as error:
        return "; ".join(map(sentence, entries_of(error.errors(include_input=False))))
    return None
