"""Many runs begun by one request: each as if it were begun alone, and with an answer of its own."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Final

from pydantic import ValidationError

from schemas.http.problems import InvalidRequestError, ProblemError
from schemas.runs.bulk import OTHERS_REFUSED, BulkRun, BulkRuns, NewRuns
from schemas.runs.requests import NewRun
from schemas.values.validation_errors import ValidationErrorEntry, entries_of, sentence
from server.dispatch.refusals import RefusedError
from server.errors import WrongState
from server.identity.authentication import Principal
from server.runs.beginning import Check, RunBeginning
from server.store.idempotency import KeyedRequest
from server.store.runs.documents import StoredRun
from server.store.transactions import Result, Transaction, Transactions
from server.trajectories.running import RunContent

MOST_SAID: Final = 3
"""Things that are wrong with a run, of those that are told of it."""


class ManyRuns:
    """Begins many runs of an organization in one transaction."""

    def __init__(self, beginning: RunBeginning, transactions: Transactions) -> None:
        self._beginning = beginning
        self._transactions = transactions

    async def begin(
        self,
        principal: Principal,
        new: NewRuns,
        check: Check,
        request: KeyedRequest | None,
    ) -> tuple[BulkRuns, bool]:
        """Let those wait for their turn that can be run; under an idempotency key once.

        All of them or, where this raises, none; with ``all_or_none`` also where one is refused.
        Answered is what became of each, and whether that was before.
        """
        wanted = new.items
        tried: dict[int, StoredRun | str] = {}
        for places in _by_content(wanted):
            # One content at a time: all together could be more than a node's memory.
            tried |= await self._of_one_content(principal, wanted, places, check)
        made = [tried[place] for place in range(len(wanted))]
        if new.all_or_none and any(isinstance(each, str) for each in made):
            return _answer(wanted, _none_of(made), []), False
        runs = [each for each in made if isinstance(each, StoredRun)]

        async def work(transaction: Transaction) -> Result:
            refusals = await transaction.runs.insert(runs) if runs else []
            if new.all_or_none and any(refusals):
                raise _NotAllError(refusals)
            return {"body": _answer(wanted, made, refusals).model_dump_json()}

        try:
            result, is_replayed = await self._transactions.run_once(request, work)
        except _NotAllError as error:
            return _answer(wanted, _none_of(error.refusals), []), False
        answer = BulkRuns.model_validate_json(result["body"])
        if not is_replayed:
            begun = {item.run_id for item in answer.items}
            self._beginning.stored([run for run in runs if run.id in begun])
        return answer, is_replayed

    async def _of_one_content(
        self, principal: Principal, wanted: Sequence[NewRun], places: Sequence[int], check: Check
    ) -> dict[int, StoredRun | str]:
        try:
            content = await self._beginning.content(principal, wanted[places[0]])
        except InvalidRequestError as error:
            return dict.fromkeys(places, _words(error.entries))
        tried = {}
        for place in places:
            tried[place] = await self._made(principal, wanted[place], content, check)
            await asyncio.sleep(0)  # Others get their turn between two of a thousand.
        return tried

    async def _made(
        self, principal: Principal, new: NewRun, content: RunContent, check: Check
    ) -> StoredRun | str:
        """A run that is not stored yet, or why there is none."""
        try:
            await check(new)
            return await self._beginning.made(principal, new, content)
        except ValidationError as error:
            # No value is repeated: it may be a password.
            return _words(entries_of(error.errors(include_input=False), "body"))
        except InvalidRequestError as error:
            return _words(error.entries)
        except (ProblemError, RefusedError, WrongState) as error:
            return str(error)


def _by_content(wanted: Sequence[NewRun]) -> Iterator[list[int]]:
    """The places of those that are to do the same."""
    groups: dict[tuple[object, object], list[int]] = {}
    for place, new in enumerate(wanted):
        groups.setdefault((new.workflow_id, new.trajectory_id), []).append(place)
    yield from groups.values()


class _NotAllError(Exception):
    """Some were refused where all or none were wanted: nothing is stored."""

    def __init__(self, refusals: Sequence[str | None]) -> None:
        super().__init__()
        self.refusals = refusals


def _none_of(made: Sequence[object]) -> list[str]:
    """Why each of some was not begun, of which some were refused."""
    return [each if isinstance(each, str) else OTHERS_REFUSED for each in made]


def _words(entries: Sequence[ValidationErrorEntry]) -> str:
    """What is wrong with one of them, each part by its name in that one's own body."""
    own = [each.model_copy(update={"loc": each.loc[1:]}) for each in entries[:MOST_SAID]]
    return "; ".join(map(sentence, own))


def _answer(
    wanted: Sequence[NewRun], made: Sequence[StoredRun | str], refusals: Sequence[str | None]
) -> BulkRuns:
    """What became of each; ``refusals`` are those of the runs that were made, in their order."""
    left = iter(refusals)
    items = []
    for new, run in zip(wanted, made, strict=True):
        refusal = run if isinstance(run, str) else next(left)
        if refusal is None and isinstance(run, StoredRun):
            items.append(BulkRun(machine_id=new.machine_id, status="begun", run_id=run.id))
        else:
            items.append(BulkRun(machine_id=new.machine_id, status="refused", detail=refusal))
    begun = sum(each.status == "begun" for each in items)
    return BulkRuns(items=items, begun=begun, refused=len(items) - begun)
