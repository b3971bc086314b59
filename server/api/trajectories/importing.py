"""Trajectories as JSON lines, to be stored: each line is answered by one."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final
from uuid import UUID, uuid4, uuid5

from pydantic import Field
from pydantic_core import to_json

from schemas.http import problems
from schemas.http.idempotency_keys import IdempotencyKey
from schemas.http.problems import InvalidRequestError, ProblemError, ValidationErrorBody
from schemas.resources.events import TrajectoryChanged
from schemas.resources.tokens import Scope
from schemas.resources.trajectories import (
    MAX_TRAJECTORY_BYTES,
    MAX_TRAJECTORY_VALUES,
    ImportedLine,
    ImportedTrajectory,
)
from schemas.values.strict import StrictModel
from server.api.trajectories.answering import editor_of
from server.trajectories.importing import ImportOutcome
from server.web.auditing import record_many
from server.web.bodies.line_splitter import Line
from server.web.endpoint import Endpoint
from server.web.line_answers import LINES_MEDIA_TYPES, NDJSON, LinesHandler

_NUMBER_BITS: Final = 48
"""So many of the last bits of an id that is made for a line are the line's number."""


class ImportHeaders(StrictModel):
    """Headers of an import."""

    idempotency_key: IdempotencyKey | None = Field(
        None,
        alias="Idempotency-Key",
        description="1 to 255 visible ASCII characters, bare or quoted (RFC 8941).  It gives each "
        "line without an id one that the same line has when it is sent again under this key.",
    )


IMPORT: Final = Endpoint(
    summary="Import trajectories",
    description="One JSON object a line, each as POST /v1/trajectories takes it.  Each is answered "
    "by a line of its own, in their order, while others may still be sent; a wrong one does not "
    "hold up the others.  Where the connection breaks, send the same again: what has an id, or the "
    "Idempotency-Key of the first time, is not stored twice.  Whoever has not read 4 MiB of "
    "answers, some 40,000 lines, is waited for.  To compare what is there already takes the scope "
    "trajectories:read.",
    scope=Scope.TRAJECTORIES_WRITE,
    headers=ImportHeaders,
    raw_body=LINES_MEDIA_TYPES,
    lines=ImportedTrajectory,
    answers={200: ImportedLine},
    media_type=NDJSON,
    max_body_bytes=MAX_TRAJECTORY_BYTES,
    max_body_values=MAX_TRAJECTORY_VALUES,
)


class ImportHandler(LinesHandler):
    @IMPORT
    async def post(self, headers: ImportHeaders) -> None:
        key = headers.idempotency_key
        base = uuid4() if key is None else uuid5(self.organization_id, f"import {key}")
        await self.answer_lines(partial(self._answers, base), IMPORT)

    async def _answers(self, base: UUID, lines: Sequence[Line]) -> bytes:
        answers: dict[int, dict[str, Any]] = {line.number: {} for line in lines}
        waiting: dict[UUID, tuple[int, ImportedTrajectory]] = {}
        for line in lines:
            try:
                given = await self.parsed_line(ImportedTrajectory, line, IMPORT)
            except InvalidRequestError as error:
                answers[line.number] = _invalid(error)
                continue
            except ProblemError as error:
                answers[line.number] = self._wrong(error)
                continue
            own = given.id or _line_id(base, line.number)
            if own in waiting:
                # It is to be compared with what the earlier line has left.
                await self._import(waiting, answers)
                waiting = {}
            waiting[own] = line.number, given
        await self._import(waiting, answers)
        texts = (to_json({"line": number, **answer}) for number, answer in answers.items())
        return b"".join(text + b"\n" for text in texts)

    async def _import(
        self,
        waiting: dict[UUID, tuple[int, ImportedTrajectory]],
        answers: dict[int, dict[str, Any]],
    ) -> None:
        """Store what waits, tell of it, and put the answers in their places."""
        caller = self.principal
        outcomes = await self.services.library.imports.add(
            caller.organization_id,
            editor_of(self),
            {own: given for own, (_, given) in waiting.items()},
            may_read=Scope.TRAJECTORIES_READ in caller.scopes,
            within=await self.services.machines.reach.machines(caller),
        )
        made = [own for own, outcome in outcomes.items() if outcome is ImportOutcome.IMPORTED]
        await record_many(self, "trajectory.created", made)
        for own in made:
            told = TrajectoryChanged(id=own, change="created")
            self.services.events.publish(caller.organization_id, "trajectory", told)
        for own, (number, _) in waiting.items():
            answers[number] = self._answer(own, outcomes[own])

    def _answer(self, own: UUID, outcome: ImportOutcome) -> dict[str, Any]:
        match outcome:
            case ImportOutcome.IMPORTED:
                return {"outcome": "imported", "id": str(own)}
            case ImportOutcome.THERE_ALREADY:
                return {"outcome": "there_already", "id": str(own)}
            case ImportOutcome.ANOTHER_IS_THERE:
                detail = "there is another trajectory with this id already"
                return self._wrong(ProblemError(problems.CONFLICT, detail))
            case ImportOutcome.ID_IS_TAKEN:
                return self._wrong(self._taken())
            case ImportOutcome.TOO_LARGE:
                detail = "It is larger than the 16 MiB that the database takes."
                members = {"max_bytes": MAX_TRAJECTORY_BYTES}
                return self._wrong(ProblemError(problems.TOO_LARGE, detail, members=members))
            case ImportOutcome.FAILED:
                detail = "the server made a mistake; it is in its log"
                return self._wrong(ProblemError(problems.INTERNAL_ERROR, detail))

    def _taken(self) -> ProblemError:
        """What is said of an id to whom may not read what has it."""
        try:
            self.principal.require(Scope.TRAJECTORIES_READ)
        except ProblemError as missing:
            return ProblemError(
                problems.CONFLICT,
                "there is one with this id already, of which is said: "
                f"{missing.problem_type.title}: {missing}",
            )
        raise AssertionError("who may read is told whether it is the same")

    def _wrong(self, problem: ProblemError) -> dict[str, Any]:
        return {"outcome": "wrong", "error": problem.body(self.request_id)}


def _line_id(base: UUID, number: int) -> UUID:
    """The id of what a line has without one.

    They grow with the lines, so that a list has those of one millisecond in the file's order.
    """
    return UUID(int=(base.int >> _NUMBER_BITS << _NUMBER_BITS) + number)


def _invalid(error: InvalidRequestError) -> dict[str, Any]:
    """The answer to a line that is not what it should be; what it says need not come back."""
    body = ValidationErrorBody(detail=error.entries)
    return {
        "outcome": "wrong",
        "error": body.model_dump(exclude={"detail": {"__all__": {"input"}}}),
    }
