"""The lines of an import: sent many at once, or, one that is too long for that, step by step."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from itertools import islice, zip_longest
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final
from uuid import UUID, uuid4

import click
from pydantic import ValidationError

from farhand import AlreadyExists, Refused, Reply
from farhand.errors import refused
from schemas.resources.trajectories import (
    MAX_TRAJECTORY_BYTES,
    MAX_TRAJECTORY_VALUES,
    ImportedTrajectory,
)
from schemas.values.json_encoding import encode_json
from schemas.values.json_values import count_values
from schemas.values.times import format_time, whole_milliseconds
from schemas.values.validation_errors import entries_of, sentence
from server.cli.transfer.connection import Transfer
from server.cli.transfer.long_lines import STEPS, LineError, scanned

BATCH_BYTES: Final = 4 * 1024 * 1024
"""How much is appended in one request, where single steps are no longer than that."""

BATCH_VALUES: Final = MAX_TRAJECTORY_VALUES // 2

PATH: Final = "/v1/trajectories"

_LINES: Final = {"Content-Type": "application/x-ndjson"}

_STEPS_FRAME: Final = len(b'{"steps":[]}')
_STEPS_FRAME_VALUES: Final = count_values(b'{"steps":[]}')
_ANOTHER: Final = "there is another trajectory with this id already"
_NOT_IN_LINES: Final = ("user_id", "organization_id", "step_count")


class Outcome(Enum):
    """What became of a line that is right."""

    IMPORTED = "imported"
    THERE_ALREADY = "there already"


@dataclass(frozen=True)
class LongLine:
    """What a long line says besides its steps, and how many these are."""

    head: ImportedTrajectory
    step_count: int

    @property
    def is_generated(self) -> bool:
        """Whether it is generated when all of its steps are there."""
        return self.step_count > 0 if self.head.is_generated is None else self.head.is_generated

    @property
    def flags(self) -> tuple[bool, bool]:
        """The state that it has in the end."""
        return self.is_generated, self.head.is_approved

    @property
    def first_flags(self) -> tuple[bool, bool]:
        """The state that it has until all of its steps are there: pending generation.

        Approved only where it stays both, as it cannot become that later.
        """
        return False, self.head.is_approved and not self.is_generated


class LineImporter:
    """Imports lines through one connection; ``advance`` is told of the bytes that are done."""

    def __init__(self, transfer: Transfer, advance: Callable[[int], None]) -> None:
        self._transfer = transfer
        self._advance = advance

    def short(self, lines: Sequence[bytes]) -> list[Outcome | LineError]:
        """Import lines that fit a request each, all in one; what became of each."""
        body = b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines)
        reply = self._transfer.send("POST", f"{PATH}/import", body, _LINES)
        outcomes = [_outcome(json.loads(answer)) for answer in reply.body.splitlines()]
        if len(outcomes) != len(lines):
            raise click.ClickException(
                f"the server answered {len(outcomes)} of {len(lines)} lines; the same command goes "
                "on from there"
            )
        return outcomes

    def long(self, line: BinaryIO) -> Outcome:
        """Import a line of any length, as far as it is not there yet.

        It is pending generation until all of its steps are there.  Raises LineError where it is
        wrong; then nothing of it is kept.
        """
        given = _read_long(line)
        if not given.step_count:
            # Then it is not the steps that make it long, but spaces.
            line.seek(0)
            (outcome,) = self.short([line.read()])
            if isinstance(outcome, LineError):
                raise outcome
            return outcome
        own = given.head.id or uuid4()
        try:
            made = self._transfer.send("POST", PATH, _beginning(given, own))
        except AlreadyExists:
            return self._continue(line, given, own)
        except Refused as error:
            raise LineError(str(error)) from None
        try:
            self._complete(line, given, own, 0, made.headers["ETag"])
        except LineError:
            self._transfer.send("DELETE", f"{PATH}/{own}")
            raise
        return Outcome.IMPORTED

    def _continue(self, line: BinaryIO, given: LongLine, own: UUID) -> Outcome:
        """Go on from what is there of a line."""
        with TemporaryFile() as standing:
            try:
                tag = self._transfer.download(f"{PATH}/{own}", standing)
            except Refused as error:
                said = f"there is one with this id already, of which is said: {error}"
                raise LineError(said) from None
            there = _compared(line, given, standing)
        if there is None:
            return Outcome.THERE_ALREADY
        self._complete(line, given, own, there, tag)
        return Outcome.IMPORTED

    def _complete(self, line: BinaryIO, given: LongLine, own: UUID, there: int, tag: str) -> None:
        """Append the steps that are not there, then bring it into its state."""
        address = f"{PATH}/{own}"
        for batch in _batches(islice(_steps(line), there, None)):
            body = b'{"steps":[' + b",".join(batch) + b"]}"
            # Should anybody else append to it too, one of both is told.
            tag = self._sent("POST", f"{address}/steps", body, {"If-Match": tag}).headers["ETag"]
            self._advance(len(body))
        change: dict[str, Any] = {}
        if given.flags != given.first_flags:
            change = {"is_generated": given.is_generated, "is_approved": given.head.is_approved}
        if given.head.updated_at is not None:
            change["updated_at"] = format_time(given.head.updated_at)
        # All of it would come back, were it not told otherwise.  It names no version: tried again
        # after an answer that was lost, it would be refused for what it has done itself.
        headers = {"Prefer": "return=minimal"}
        self._sent("PATCH", address, encode_json(change), headers)

    def _sent(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Reply:
        """Send a request about a line, which is wrong where that is refused."""
        try:
            return self._transfer.send(method, path, body, headers)
        except Refused as error:
            raise LineError(str(error)) from None


def _outcome(answer: Mapping[str, Any]) -> Outcome | LineError:
    """What the server says of a line."""
    if answer["outcome"] != "wrong":
        return Outcome[answer["outcome"].upper()]
    error = answer["error"]
    if error.get("type") == "/problems/already-exists":
        return LineError(error["detail"])
    return LineError(str(refused(error.get("status", 422), error)))


def _validated(line: bytes) -> ImportedTrajectory:
    try:
        return ImportedTrajectory.model_validate_json(line)
    except ValidationError as error:
        entries = entries_of(error.errors(include_url=False))
        raise LineError("; ".join(map(sentence, entries))) from None


def _read_long(line: BinaryIO, without: Collection[str] = ()) -> LongLine:
    """Check all of a line, and keep what is not a step."""
    line.seek(0)
    members: dict[str, bytes] = {STEPS: b"[]"}
    step_count = 0
    for name, text in scanned(line, MAX_TRAJECTORY_BYTES):
        if name is None:
            step_count += 1
            _step(text, step_count)
        elif name not in without:
            members[name] = text
    if sum(map(len, members.values())) > MAX_TRAJECTORY_BYTES:
        raise LineError(f"longer than {MAX_TRAJECTORY_BYTES} bytes without its steps")
    pairs = (encode_json(name) + b":" + text for name, text in members.items())
    return LongLine(_validated(b"{" + b",".join(pairs) + b"}"), step_count)


def _steps(line: BinaryIO) -> Iterator[bytes]:
    """The steps of a line that has been checked, each as the server writes it."""
    line.seek(0)
    steps = (text for name, text in scanned(line, MAX_TRAJECTORY_BYTES) if name is None)
    return (_step(text, number) for number, text in enumerate(steps, 1))


def _step(text: bytes, number: int) -> bytes:
    """A step as the server writes it."""
    try:
        value = json.loads(text)
        written = encode_json(value)
    except (ValueError, RecursionError) as error:
        raise LineError(f"step {number}: {error}") from None
    if not isinstance(value, dict):
        raise LineError(f"step {number} must be an object")
    if len(written) + _STEPS_FRAME > MAX_TRAJECTORY_BYTES:
        raise LineError(f"step {number} is longer than {MAX_TRAJECTORY_BYTES} bytes")
    if count_values(written) + _STEPS_FRAME_VALUES > MAX_TRAJECTORY_VALUES:
        raise LineError(f"step {number} holds more than {MAX_TRAJECTORY_VALUES} values")
    return written


def _batches(steps: Iterable[bytes]) -> Iterator[list[bytes]]:
    """As many steps at once as have BATCH_BYTES and BATCH_VALUES together, and one at least."""
    batch: list[bytes] = []
    size, values = 0, 0
    for step in steps:
        more = count_values(step)
        if batch and (size + len(step) > BATCH_BYTES or values + more > BATCH_VALUES):
            yield batch
            batch, size, values = [], 0, 0
        batch.append(step)
        size += len(step) + 1
        values += more
    if batch:
        yield batch


def _beginning(given: LongLine, own: UUID) -> bytes:
    """What the trajectory of a long line is created with."""
    head, (is_generated, is_approved) = given.head, given.first_flags
    facts = {
        "id": str(own),
        "workflow_id": str(head.workflow_id),
        "run_id": head.run_id and str(head.run_id),
        "name": head.name,
        "description": head.description,
        "is_generated": is_generated,
        "is_approved": is_approved,
        "has_been_approved": head.has_been_approved,
        "is_main": head.is_main,
        "created_at": head.created_at and format_time(head.created_at),
        "updated_at": head.updated_at and format_time(head.updated_at),
    }
    inputs = head.original_input_values
    return b"".join(
        [
            encode_json(facts)[:-1],
            b',"dimensions":',
            head.dimensions.text,
            b',"original_input_values":',
            b"null" if inputs is None else inputs.text,
            b',"trajectory_data":[]}',
        ]
    )


def _compared(line: BinaryIO, given: LongLine, standing: BinaryIO) -> int | None:
    """How many of the line's steps are there; None where all of it is, in its own state.

    Raises LineError where something else is there.
    """
    there = _read_long(standing, without=_NOT_IN_LINES)
    if _head(there.head, given.head) != _head(given.head, given.head) or any(
        own != other for own, other in zip_longest(_steps(line), _steps(standing)) if other
    ):
        raise LineError(_ANOTHER)
    is_whole = (there.step_count, there.flags) == (given.step_count, given.flags)
    if is_whole and _updated(there.head, given.head) == _updated(given.head, given.head):
        return None
    if there.flags != given.first_flags:
        raise LineError(_ANOTHER)
    return there.step_count


def _head(trajectory: ImportedTrajectory, given: ImportedTrajectory) -> Sequence[object]:
    """What does not change while the steps of a long line are appended."""
    inputs = trajectory.original_input_values
    return [
        trajectory.workflow_id,
        trajectory.run_id,
        trajectory.name,
        trajectory.description,
        trajectory.dimensions.text,
        b"{}" if inputs is None else inputs.text,
        _time(trajectory.created_at, given.created_at),
    ]


def _updated(trajectory: ImportedTrajectory, given: ImportedTrajectory) -> datetime | None:
    return _time(trajectory.updated_at, given.updated_at)


def _time(time: datetime | None, given: datetime | None) -> datetime | None:
    """A time as the server keeps it; none where the line does not say one."""
    return None if time is None or given is None else whole_milliseconds(time)
