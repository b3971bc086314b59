"""Help: what programs ask people is kept, answered once, and ends at its time."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final
from uuid import UUID, uuid4

from schemas.help.requests import (
    ANSWERS,
    HelpListQuery,
    HelpPage,
    HelpRequest,
    HelpState,
    NewHelp,
    NewHelpAnswer,
)
from schemas.http.problems import InvalidRequestError
from schemas.values.times import format_time
from server.errors import NotFound, OwnWork, StoreUnavailable, WrongState
from server.identity.authentication import Principal
from server.store.audit import AuditEntry, AuditStore
from server.store.help.requests import HelpStore, StoredHelp
from server.store.idempotency import KeyedRequest
from server.store.retrying import always, retry
from server.store.times import now
from server.store.transactions import Result, Transaction, Transactions
from server.store.webhooks.outbox import Outbox, StoredDelivery

POLL_SECONDS: Final = 5.0
"""After how long to look again at the latest: another node may have taken one that ends sooner."""

AGAIN_SECONDS: Final = 1.0
"""The same where the database does not answer."""


class Help:
    """Every method sees the requests of the organization it is given, and no others.

    ``deliveries`` makes what webhooks are told of one, ``told`` hears of each that was asked or has
    ended; ``asked`` and ``ended`` count those of this node.  Whatever names one that is not there
    raises NotFound.
    """

    def __init__(
        self,
        store: HelpStore,
        transactions: Transactions,
        audit: AuditStore,
        outbox: Outbox,
        deliveries: Callable[[StoredHelp], Awaitable[Sequence[StoredDelivery]]],
        told: Callable[[UUID, HelpRequest], None],
    ) -> None:
        self._store = store
        self._transactions = transactions
        self._audit = audit
        self._outbox = outbox
        self._deliveries = deliveries
        self._told = told
        self.ended: Counter[HelpState] = Counter()
        self.asked = 0
        self._woken = asyncio.Event()

    async def ask(
        self,
        principal: Principal,
        new: NewHelp,
        request: KeyedRequest | None,
        run_id: UUID | None = None,
    ) -> tuple[HelpRequest, bool]:
        """Ask; under an idempotency key once: whether an earlier request did it.

        ``run_id`` is the run that asks, where one does.  What was asked before is answered as it
        was asked.  Raises KeyReused, and WrongState where as many are open as may be.
        """
        moment = now()
        made = StoredHelp(
            id=uuid4(),
            organization_id=principal.organization_id,
            machine_id=new.machine_id,
            kind=new.kind,
            reason=new.reason,
            created_at=moment,
            expires_at=moment + timedelta(seconds=new.timeout),
            by=principal.token_name,
            token_id=principal.token_id,
            user_id=principal.user_id,
            run_id=run_id,
        )
        body = help_view(made)
        deliveries = await self._deliveries(made)

        async def work(transaction: Transaction) -> Result:
            await transaction.help.insert(made, self._outbox, deliveries)
            return {"body": body.model_dump_json()}

        result, is_replayed = await self._transactions.run_once(request, work)
        if is_replayed:
            return HelpRequest.model_validate_json(result["body"]), True
        self.asked += 1
        self._woken.set()
        self._told(principal.organization_id, body)
        if deliveries:
            await self._outbox.make_room(principal.organization_id)
        return body, False

    async def page(
        self, organization_id: UUID, query: HelpListQuery, machine_ids: Collection[str] | None
    ) -> HelpPage:
        """One page of them, newest first; about these machines alone where they are given."""
        if query.machine_id is not None:
            asked = {query.machine_id}
            machine_ids = asked if machine_ids is None else asked & set(machine_ids)
        found, total = await self._store.list(
            organization_id,
            machine_ids=machine_ids,
            state=query.state,
            skip=query.skip,
            limit=query.limit,
        )
        items = [help_view(each) for each in found]
        return HelpPage(items=items, total=total, skip=query.skip, limit=query.limit)

    async def get(self, organization_id: UUID, help_id: UUID) -> HelpRequest:
        """One of them."""
        return help_view(await self._stored(organization_id, help_id))

    async def answered_among(self, help_ids: Collection[UUID]) -> set[UUID]:
        """Which of these requests people have answered."""
        return await self._store.answered_among(help_ids)

    async def answer(
        self, principal: Principal, help_id: UUID, answer: NewHelpAnswer
    ) -> HelpRequest:
        """Answer one.

        Raises OwnWork where the token or the user of whoever answers asked it, or has made the
        token that would approve it, a validation error for an answer that its kind does not take,
        and WrongState where it has ended.
        """
        asked = await self._stored(principal.organization_id, help_id)
        if _is_asker(principal, asked):
            raise OwnWork("whoever asks cannot answer: somebody else has to, with another token")
        if asked.kind == "approval" and _is_made_by_asker(principal, asked):
            raise OwnWork(
                "your token was made by the one that asks for approval, or by its user: somebody "
                "has to decide whose token was not"
            )
        allowed = ANSWERS[asked.kind]
        if answer.answer not in allowed:
            raise InvalidRequestError.single(
                ("body", "answer"),
                f"must be {' or '.join(allowed)}: the request is of the kind {asked.kind}",
                "help_answer",
                answer.answer,
            )
        ended = await self._store.answer(asked, answer.answer, answer.comment, principal.token_name)
        return await self._ended(asked, ended)

    async def withdraw(self, principal: Principal, help_id: UUID) -> tuple[HelpRequest, bool]:
        """Take one back, and whether that was still to be done.

        Raises OwnWork for one that somebody else asked, and WrongState where it has ended.
        """
        asked = await self._stored(principal.organization_id, help_id)
        if not _is_asker(principal, asked):
            raise OwnWork("only whoever asks can withdraw it: the same token or user")
        if asked.state == "withdrawn":
            return help_view(asked), False
        return await self._ended(asked, await self._store.withdraw(asked)), True

    async def withdraw_of_run(self, organization_id: UUID, machine_id: str, run_id: UUID) -> None:
        """Take back whatever a run still asks about its machine."""
        for asked in await self._store.open_of_run(organization_id, machine_id, run_id):
            with suppress(WrongState):  # Somebody was just answering it.
                await self._ended(asked, await self._store.withdraw(asked))

    async def run(self) -> None:
        """End what nobody answers in time, for ever; whichever node sees it first."""
        while True:
            self._woken.clear()
            seconds = await self._end_what_is_over()
            with suppress(TimeoutError):
                async with asyncio.timeout(min(seconds, POLL_SECONDS)):
                    await self._woken.wait()

    async def _end_what_is_over(self) -> float:
        """End those whose time is over; in how many seconds the next will be."""
        try:
            while (first := await self._store.first_to_end()) is not None:
                if first.seconds_left > 0:
                    return first.seconds_left
                await self._end_if_over(first.stored)
        except StoreUnavailable:
            return AGAIN_SECONDS
        return POLL_SECONDS

    async def _end_if_over(self, asked: StoredHelp) -> None:
        ended = await self._store.end_if_over(asked)
        if ended is not None:
            self.ended[ended.state] += 1
            self._told(asked.organization_id, help_view(ended))
            entry = _timed_out(ended)
            await retry(lambda: self._audit.add(entry), is_worthwhile=always)

    async def _ended(self, asked: StoredHelp, ended: StoredHelp | None) -> HelpRequest:
        """One that has just been ended; raises WrongState where it had been before."""
        if ended is None:
            await self._end_if_over(asked)
            raise WrongState(_how_ended(await self._stored(asked.organization_id, asked.id)))
        view = help_view(ended)
        self.ended[view.state] += 1
        self._told(asked.organization_id, view)
        return view

    async def _stored(self, organization_id: UUID, help_id: UUID) -> StoredHelp:
        stored = await self._store.get(organization_id, help_id)
        if stored is None:
            raise NotFound("There is no such request.")
        return stored


def help_view(stored: StoredHelp) -> HelpRequest:
    """A request as it is answered, and told."""
    return HelpRequest.model_validate(stored, from_attributes=True)


def _is_asker(principal: Principal, asked: StoredHelp) -> bool:
    is_user = principal.user_id is not None and principal.user_id == asked.user_id
    return is_user or principal.token_id == asked.token_id


def _is_made_by_asker(principal: Principal, asked: StoredHelp) -> bool:
    """Whether it may be the asker who answers, with a token that it has made itself."""
    return not principal.makers.isdisjoint({asked.token_id, asked.user_id})


def _how_ended(stored: StoredHelp) -> str:
    """Why one cannot be ended, for a person."""
    at = "" if stored.ended_at is None else f" at {format_time(stored.ended_at)}"
    if stored.state == "answered":
        return f"{stored.answered_by} answered it{at}: {stored.answer}"
    if stored.state == "withdrawn":
        return f"{stored.by}, who asked, withdrew it{at}"
    return f"nobody answered it in time: it ended{at}"


def _timed_out(ended: StoredHelp) -> AuditEntry:
    return AuditEntry(
        id=uuid4().bytes,
        organization_id=ended.organization_id,
        created_at=now(),
        action="help.timed_out",
        token_id=None,
        token_name=ended.by,
        target=str(ended.id),
        machine_id=ended.machine_id,
        request_id="",
    )
