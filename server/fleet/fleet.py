"""The machines of organizations: what may become of one, and who has to hear of it."""

from collections.abc import Callable, Collection
from uuid import UUID, uuid4

from schemas.http.queries import PageQuery
from schemas.resources.machine_lists import MachinePage, MachineQuery, TagCount
from schemas.resources.machines import Machine, MachineChange, NewMachine
from schemas.resources.pools import MOST_POOLS_OF_MACHINE, MOST_TAGS
from schemas.resources.tokens import CreatedToken, NewToken, Scope
from schemas.resources.troubles import Trouble, TroublePage
from server.dispatch.dispatcher import Dispatcher
from server.dispatch.machine_views import MachineViews
from server.dispatch.questions.control import MachineRemoved, PauseChanged
from server.dispatch.refusals import RefusedError, accepted, unknown_machine
from server.errors import TooLarge
from server.fleet.lists.lists import MachineLists
from server.fleet.lists.questions import Window
from server.fleet.pauses import Pauses, check_end
from server.fleet.pools import Pools
from server.identity.tokens import make_token
from server.store.identity.tokens import TokenStore
from server.store.machines.documents import LINK_ENDED, Labels, PauseDetails
from server.store.machines.documents import Machine as StoredMachine
from server.store.machines.machines import MachineStore
from server.store.machines.troubles import StoredTrouble, TroubleStore


class Fleet:
    """Every method sees the machines of the organization it is given, and no others.

    ``changed`` is told of every machine that changes.  Whatever names a machine that is not there
    raises RefusedError.
    """

    def __init__(
        self,
        machines: MachineStore,
        tokens: TokenStore,
        troubles: TroubleStore,
        views: MachineViews,
        dispatcher: Dispatcher,
        pauses: Pauses,
        pools: Pools,
        lists: MachineLists,
        changed: Callable[[UUID, str], None],
    ) -> None:
        self._machines = machines
        self._tokens = tokens
        self._troubles = troubles
        self._views = views
        self._dispatcher = dispatcher
        self._pauses = pauses
        self._pools = pools
        self._lists = lists
        self._changed = changed

    async def page(
        self,
        organization_id: UUID,
        query: MachineQuery,
        within: frozenset[UUID] | None = None,
    ) -> MachinePage:
        """One page of the machines that fit, in these pools alone where they are given.

        Raises a validation error for a pool that is not there.
        """
        window = Window(query.skip, query.limit)
        found = await self._lists.find(
            organization_id, query, query.sort, window, counts=query.counts, within=within
        )
        stored = await self._machines.some(organization_id, found.ids)
        page = MachinePage(
            items=await self._views.of_all(organization_id, stored),
            total=found.total,
            skip=query.skip,
            limit=query.limit,
        )
        if (counts := found.counts) is not None:
            page.counts = counts.states
            page.tags = [TagCount(tag=tag, machines=each) for tag, each in counts.tags.items()]
            page.pools = await self._pools.counted(organization_id, counts.pools)
        return page

    async def get(self, organization_id: UUID, machine_id: str) -> Machine:
        """A machine as it is now."""
        return await self.view(await self._stored(organization_id, machine_id))

    async def view(self, stored: StoredMachine) -> Machine:
        """A machine that was added or changed, as it is now."""
        return await self._views.of(stored)

    async def trouble(self, organization_id: UUID, machine_id: str, page: PageQuery) -> TroublePage:
        """What was wrong with a machine lately, and is, the latest first."""
        stored = await self._stored(organization_id, machine_id)
        ended = await self._troubles.of(organization_id, machine_id)
        present = await self._views.trouble(stored)
        troubles = [] if present is None else [present]
        troubles += [_trouble(each) for each in ended]
        return TroublePage(
            items=troubles[page.skip : page.skip + page.limit],
            total=len(troubles),
            skip=page.skip,
            limit=page.limit,
        )

    async def check(self, organization_id: UUID, machine_id: str) -> None:
        """Raise RefusedError unless there is such a machine."""
        await self._stored(organization_id, machine_id)

    async def add(
        self, organization_id: UUID, new: NewMachine, within: Collection[UUID] | None = None
    ) -> tuple[StoredMachine, CreatedToken]:
        """Add a machine, and the token that it connects with.

        ``within`` are the pools of a token that is bound to any.  Raises AlreadyExists, also for
        one that was removed beyond these, and a validation error for a pool that is not there.
        """
        labels = Labels(new.tags, await self._pools.check(organization_id, new.pool_ids))
        machine_id = new.id or str(uuid4())
        name = f"machine {machine_id}"
        token = make_token(
            organization_id,
            NewToken(name=name, scopes=[Scope.MACHINE_CONNECT], machine_id=machine_id),
        )
        stored = await self._machines.create(
            organization_id, machine_id, new.name or machine_id, token.stored, labels, within
        )
        self._changed(organization_id, machine_id)
        return stored, token.view

    async def change(
        self, organization_id: UUID, machine_id: str, change: MachineChange, *, by: str
    ) -> StoredMachine:
        """Rename, tag, pause or resume a machine; one that is paused takes nothing from then on.

        ``by`` is the name of whoever does it.  Raises a validation error for a pause that ends in
        the past, or is too long.
        """
        check_end(change.pause_until)
        stored = await self._machines.change(
            organization_id,
            machine_id,
            name=change.name,
            tags=change.tags,
            paused=change.paused,
            details=PauseDetails(by, change.pause_reason, change.pause_until),
        )
        if stored is None:
            raise RefusedError(unknown_machine(machine_id))
        if change.paused is not None:
            self._pauses.look_soon()
            await self._ask(PauseChanged(organization_id=organization_id, machine_id=machine_id))
        self._changed(organization_id, machine_id)
        return stored

    async def label(
        self, organization_id: UUID, machine_id: str, add: Labels, remove: Labels
    ) -> StoredMachine:
        """Give a machine tags and pools, and take some away.

        Raises TooLarge where it would have too many.
        """
        stored = await self._machines.label(organization_id, machine_id, add, remove)
        if stored is None:
            await self.check(organization_id, machine_id)
            raise TooLarge(
                f"a machine has at most {MOST_TAGS} tags, and is in at most "
                f"{MOST_POOLS_OF_MACHINE} pools"
            )
        self._changed(organization_id, machine_id)
        return stored

    async def remove(self, organization_id: UUID, machine_id: str) -> None:
        """Remove a machine, its tokens and its link."""
        removed = MachineRemoved(organization_id=organization_id, machine_id=machine_id)
        await self._tokens.revoke_of_machine(organization_id, machine_id)
        # Now another node's link can still be found; and again for one that was just coming up.
        await self._ask(removed)
        if not await self._machines.delete(organization_id, machine_id):
            raise RefusedError(unknown_machine(machine_id))
        await self._ask(removed)
        self._changed(organization_id, machine_id)

    async def _stored(self, organization_id: UUID, machine_id: str) -> StoredMachine:
        stored = await self._machines.get(organization_id, machine_id)
        if stored is None:
            raise RefusedError(unknown_machine(machine_id))
        return stored

    async def _ask(self, question: PauseChanged | MachineRemoved) -> None:
        """Have the node with the machine's link know.  Raises RefusedError and StoreUnavailable."""
        reply = await self._dispatcher.ask(question)
        accepted(reply)


def _trouble(stored: StoredTrouble) -> Trouble:
    """What is over, as operators see it."""
    return Trouble(
        kind=stored.kind,
        reason=stored.reason or LINK_ENDED,
        since=stored.since,
        until=stored.until,
        seconds=(stored.until - stored.since).total_seconds(),
    )
