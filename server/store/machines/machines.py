"""Machines: who they are, and the state of their links."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID, uuid4

from pymongo import ReturnDocument, UpdateOne

from schemas.link.messages import Display
from schemas.resources.pools import MOST_POOLS_OF_MACHINE, MOST_TAGS
from server.errors import NotFound
from server.store.identity.tokens import StoredToken, token_document
from server.store.machines.documents import (
    BEGUN_WORD,
    GONE,
    NO_LABELS,
    RESUMED,
    ClientSummary,
    JoinedWith,
    Labels,
    LinkFacts,
    Machine,
    PauseDetails,
    client_document,
    display_documents,
    existing,
    labelled,
    link_document,
    machine_of,
    noted,
    noted_stage,
)
from server.store.machines.input_counts import InputCountStore
from server.store.machines.troubles import WITHOUT_TROUBLES, with_offline_time
from server.store.mongodb.batches import Batches
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, machines_of
from server.store.mongodb.transactions import Session, in_transaction
from server.store.times import now

MachineKey = tuple[UUID, str]


@dataclass(frozen=True)
class _BegunLink:
    """A link that begins: of which machine, what its client said, and where it is."""

    key: MachineKey
    client: ClientSummary
    link: LinkFacts

    def change(self) -> Sequence[Document]:
        """What that makes of the machine's document."""
        time = now()
        begun: Document = {
            "connected_at": time,
            "disconnected_at": None,
            "state_since": time,
            "reason": None,
            # In a pipeline a text that begins with $ would be read as a field of the document.
            "client": {"$literal": client_document(self.client)},
            "link": link_document(self.link),
            "troubles": with_offline_time(time),
            "epoch": {"$add": ["$epoch", 1]},
            "word": BEGUN_WORD,
        }
        return [noted_stage(begun)]


_NOT_ENDED: Document = {"disconnected_at": None, "deleted_at": None}


class MachineStore:
    """Every method sees the machines of the organization it is given, and no others.

    A removed machine stays behind unseen, for its epoch: one that is added later under the same
    id goes on counting, so that no epoch ever means two links.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._machines = database.collection("machines")
        self._tokens = database.collection("tokens")
        self._counts = InputCountStore(database)
        tasks = database.tasks
        self._found = Batches(self._find, tasks, "read machines")
        self._begun = Batches(self._begin_links, tasks, "begin links", key=lambda link: link.key)
        self._ended = Batches(self._end_links, tasks, "end links")

    async def create(
        self,
        organization_id: UUID,
        machine_id: str,
        name: str,
        token: StoredToken | None = None,
        labels: Labels = NO_LABELS,
        within: Collection[UUID] | None = None,
    ) -> Machine:
        """Store a new machine, with the token that it connects with: both, or none.

        Raises AlreadyExists where the organization has a machine of this id, or has removed one
        that was in none of the pools ``within``.
        """

        async def work(session: Session) -> Machine:
            stored = await self.insert_in(
                session, organization_id, machine_id, name, labels, within
            )
            if token is not None:
                await self._tokens.insert_one(token_document(token), session=session)
            return stored

        stored = await in_transaction(self._database, work)
        await self._counts.forget(organization_id, machine_id)
        return stored

    async def ids_like(
        self,
        organization_id: UUID,
        pattern: str,
        session: Session,
        within: Collection[UUID] | None,
    ) -> set[str]:
        """The taken ids that fit a regular expression, as a transaction sees them.

        Those of removed machines are taken where these were in none of the pools ``within``.
        """
        taken: list[Document] = [{"deleted_at": None}]
        if within is not None:
            taken.append({"pools": {"$nin": [*within]}})
        wanted = {
            "organization_id": organization_id,
            "machine_id": {"$regex": pattern},
            "$or": taken,
        }
        cursor = self._machines.find(wanted, projection=["machine_id"], session=session)
        return {each["machine_id"] async for each in cursor}

    async def is_there_since(
        self,
        session: Session,
        organization_id: UUID,
        machine_id: str,
        moment: datetime,
        pool_ids: Collection[UUID] | None,
    ) -> bool:
        """Whether a machine was there then and still is, as a transaction sees it.

        And whether it is in any of these pools, where they are given.
        """
        wanted = {**existing(organization_id, machine_id), "created_at": {"$lte": moment}}
        if pool_ids is not None:
            wanted["pools"] = {"$in": [*pool_ids]}
        return await self._machines.find_one(wanted, {"_id": True}, session=session) is not None

    async def insert_in(
        self,
        session: Session,
        organization_id: UUID,
        machine_id: str,
        name: str,
        labels: Labels = NO_LABELS,
        within: Collection[UUID] | None = None,
    ) -> Machine:
        """Store a new machine in a transaction.  Raises what the driver does where it is there.

        All that was recorded under an id is its next machine's as well.  So whoever has machines
        ``within`` pools alone gets no id of a removed one that was in none of them.
        """
        time = now()
        fresh = {
            "name": name,
            "tags": [*labels.tags],
            "pools": [*labels.pools],
            **RESUMED,
            "created_at": time,
            "connected_at": None,
            "disconnected_at": None,
            "state_since": time,
            "reason": None,
            "client": None,
            "invitation": None,
            "troubles": [],
            "deleted_at": None,
            "word": None,
            "expected_offline": None,
        }
        removed = {
            "organization_id": organization_id,
            "machine_id": machine_id,
            "deleted_at": {"$ne": None},
        }
        if within is not None:
            removed["pools"] = {"$in": [*within]}
        # Finds a removed one or none; any other one makes the upsert hit the unique index.
        return machine_of(
            await self._machines.find_one_and_update(
                removed,
                noted(
                    {
                        "$set": fresh,
                        "$setOnInsert": {"epoch": 0},
                        "$unset": {"control": "", "recordings": ""},
                    }
                ),
                upsert=True,
                return_document=ReturnDocument.AFTER,
                session=session,
            )
        )

    async def get(self, organization_id: UUID, machine_id: str) -> Machine | None:
        """The machine, or None."""
        async with self._database.operation():
            found = await self._machines.find_one(
                existing(organization_id, machine_id), WITHOUT_TROUBLES
            )
        return None if found is None else machine_of(found)

    async def get_together(self, organization_id: UUID, machine_id: str) -> Machine | None:
        """As ``get``, in one query with others who ask at the same time."""
        return await self._found.answer((organization_id, machine_id))

    async def _find(self, keys: Sequence[MachineKey]) -> list[Machine | None]:
        found = {
            (each.organization_id, each.machine_id): each for each in await self._live_of(keys)
        }
        return [found.get(key) for key in keys]

    async def _live_of(self, keys: Sequence[MachineKey]) -> list[Machine]:
        """The machines that have these keys."""
        wanted = {**machines_of(keys), "deleted_at": None}
        cursor = self._machines.find(wanted, WITHOUT_TROUBLES)
        return [machine_of(found) async for found in self._database.documents(cursor)]

    async def some(self, organization_id: UUID, machine_ids: Sequence[str]) -> list[Machine]:
        """Those of these machines that there are, in this order."""
        if not machine_ids:
            return []
        found = await self._find([(organization_id, each) for each in machine_ids])
        return [machine for machine in found if machine is not None]

    async def delete(self, organization_id: UUID, machine_id: str) -> bool:
        """Remove the machine; False where there is none.  Its tokens are the caller's to revoke."""
        async with self._database.operation():
            result = await self._machines.update_one(
                existing(organization_id, machine_id), noted({"$set": {"deleted_at": now()}})
            )
        if result.modified_count == 0:
            return False
        await self._counts.forget(organization_id, machine_id)
        return True

    async def change(
        self,
        organization_id: UUID,
        machine_id: str,
        *,
        name: str | None = None,
        paused: bool | None = None,
        details: PauseDetails | None = None,
        tags: Sequence[str] | None = None,
    ) -> Machine | None:
        """Rename, tag, pause or resume; None leaves as it is.  None where there is no such machine.

        ``details`` are of the pause; pausing again takes the place of the first one's.
        """
        change: Document = {}
        if name is not None:
            # In a pipeline a text that begins with $ would be read as a field of the document.
            change["name"] = {"$literal": name}
        if paused is not None:
            change |= _paused(details or PauseDetails()) if paused else RESUMED
        if tags is not None:
            change["tags"] = {"$literal": [*tags]}
        if not change:
            return await self.get(organization_id, machine_id)
        return await self._update(existing(organization_id, machine_id), [noted_stage(change)])

    async def label(
        self, organization_id: UUID, machine_id: str, add: Labels, remove: Labels = NO_LABELS
    ) -> Machine | None:
        """Give a machine tags and pools, and take some away.

        None where there is no such machine, and where it would have too many.
        """
        stage = labelled(add, remove)
        fits = {
            "$and": [
                {"$lte": [{"$size": stage["tags"]}, MOST_TAGS]},
                {"$lte": [{"$size": stage["pools"]}, MOST_POOLS_OF_MACHINE]},
            ]
        }
        wanted = {**existing(organization_id, machine_id), "$expr": fits}
        return await self._update(wanted, [noted_stage(stage)])

    async def joined_in(
        self,
        session: Session,
        organization_id: UUID,
        machine_id: str,
        add: Labels,
        invitation: JoinedWith | None,
    ) -> None:
        """Note in a transaction that a host became this machine, by which invitation if by one.

        It gets the tags and pools of that, as many as it may have.
        """
        stage = labelled(add, NO_LABELS)
        stage["tags"] = {"$slice": [stage["tags"], MOST_TAGS]}
        stage["pools"] = {"$slice": [stage["pools"], MOST_POOLS_OF_MACHINE]}
        if invitation is not None:
            stage["invitation"] = {"$literal": vars(invitation)}
        wanted = existing(organization_id, machine_id)
        await self._machines.update_one(wanted, [noted_stage(stage)], session=session)

    async def begin_link(
        self, organization_id: UUID, machine_id: str, client: ClientSummary, link: LinkFacts
    ) -> Machine:
        """Count a new link and remember when it began, and where; the epoch is its number.

        Goes together with others that begin at the same time.  Raises NotFound.
        """
        begun = _BegunLink((organization_id, machine_id), client, replace(link, attempt=uuid4()))
        machine = await self._begun.answer(begun)
        if machine is None:
            raise NotFound(f"There is no machine {machine_id}.")
        return machine

    async def _begin_links(self, begun: Sequence[_BegunLink]) -> list[Machine | None]:
        """Begin links of different machines, in two operations however many they are."""
        if len(begun) == 1:
            return [await self._begin_alone(begun[0])]
        changes = [UpdateOne(existing(*each.key), each.change()) for each in begun]
        async with self._database.operation():
            await self._machines.bulk_write(changes, ordered=False)
        machines = await self._find([each.key for each in begun])
        return [
            machine
            if machine is None or (machine.link and machine.link.attempt == each.link.attempt)
            # Another node began one since: nobody can tell this one's epoch any more.
            else await self._begin_alone(each)
            for each, machine in zip(begun, machines, strict=True)
        ]

    async def _begin_alone(self, begun: _BegunLink) -> Machine | None:
        return await self._update(existing(*begun.key), begun.change())

    async def link_again(
        self, organization_id: UUID, machine_id: str, epoch: int, node_id: UUID
    ) -> bool:
        """Remember that this link has not ended after all; False where a newer one began since."""
        wanted = {**existing(organization_id, machine_id), "epoch": epoch, "link.node_id": node_id}
        if await self._update({**wanted, "disconnected_at": None}, {"$set": {}}) is not None:
            return True
        again = {"disconnected_at": None, "state_since": now(), "reason": None, "word": BEGUN_WORD}
        change = [noted_stage(again)]
        return await self._update(wanted, change) is not None

    async def end_links_of(self, node_id: UUID, reason: str) -> list[tuple[UUID, str]]:
        """Remember that the links of a node have ended with it; whose they were."""
        time = now()
        wanted = {"link.node_id": node_id, "disconnected_at": None}
        cursor = self._machines.find(wanted, projection=["organization_id", "machine_id"])
        ended = [
            (found["organization_id"], found["machine_id"])
            async for found in self._database.documents(cursor)
        ]
        change = noted({"$set": _ended(time, reason)})
        async with self._database.operation():
            await self._machines.update_many(wanted, change)
        return ended

    async def count_linked_to(self, node_id: UUID) -> tuple[int, int]:
        """How many links a node holds, as far as anybody has noted, and the sum of their epochs."""
        async with self._database.operation():
            found = await self._machines.aggregate(
                [
                    {"$match": {"link.node_id": node_id, **_NOT_ENDED}},
                    {"$group": {"_id": None, "links": {"$sum": 1}, "sum": {"$sum": "$epoch"}}},
                ]
            ).to_list(1)
        return (found[0]["links"], found[0]["sum"]) if found else (0, 0)

    async def linked_to(self, node_id: UUID) -> dict[tuple[UUID, str], int]:
        """The epochs of the links that a node holds, as far as anybody has noted."""
        cursor = self._machines.find(
            {"link.node_id": node_id, **_NOT_ENDED},
            projection=["organization_id", "machine_id", "epoch"],
        )
        return {
            (found["organization_id"], found["machine_id"]): found["epoch"]
            async for found in self._database.documents(cursor)
        }

    async def end_link(
        self, organization_id: UUID, machine_id: str, epoch: int, reason: str
    ) -> None:
        """Remember that this link ended and why; nothing happens where a newer one began since.

        Goes together with others that end at the same time.
        """
        time = now()
        change = noted({"$set": _ended(time, reason)})
        wanted = {**existing(organization_id, machine_id), "epoch": epoch, "disconnected_at": None}
        await self._ended.answer(UpdateOne(wanted, change))

    async def _end_links(self, changes: Sequence[UpdateOne]) -> Sequence[None]:
        async with self._database.operation():
            await self._machines.bulk_write([*changes], ordered=False)
        return [None] * len(changes)

    async def note_displays(
        self, organization_id: UUID, machine_id: str, epoch: int, displays: Sequence[Display]
    ) -> None:
        """Remember where the displays are now; nothing happens where a newer link began since."""
        wanted = {**existing(organization_id, machine_id), "epoch": epoch}
        change = {"$set": {"client.displays": display_documents(displays)}}
        async with self._database.operation():
            await self._machines.update_one(wanted, change)

    async def _update(
        self, wanted: Document, change: Document | Sequence[Document]
    ) -> Machine | None:
        async with self._database.operation():
            found = await self._machines.find_one_and_update(
                wanted, change, WITHOUT_TROUBLES, return_document=ReturnDocument.AFTER
            )
        return None if found is None else machine_of(found)


def _ended(time: datetime, reason: str) -> Document:
    """The fields of a machine whose link has ended."""
    return {"disconnected_at": time, "state_since": time, "reason": reason, "word": GONE}


def _paused(details: PauseDetails) -> Document:
    """The fields of a paused machine: a pipeline's, so that pausing again keeps the first time."""
    return {
        "paused": True,
        "paused_since": {"$ifNull": ["$paused_since", now()]},
        "pause": {"$literal": vars(details)},
    }
