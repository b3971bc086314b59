"""Workflows as the API offers them: what trajectories are recordings of."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from schemas.http.entity_tags import version_tag
from schemas.http.queries import PageQuery
from schemas.resources.workflows import ChangedWorkflow, NewWorkflow, Workflow
from server.errors import InUse
from server.store.idempotency import KeyedRequest
from server.store.times import now
from server.store.trajectories.workflows import StoredWorkflow, WorkflowStore
from server.store.transactions import Transaction, Transactions
from server.store.versions import Versions
from server.trajectories.answers import KeyedAnswer
from server.trajectories.creation import new_workflow, stored_schema


@dataclass(frozen=True)
class WorkflowAnswer:
    """A workflow, and the tag of its version."""

    tag: str
    workflow: Workflow


class Workflows:
    """Every method sees the workflows of the organization it is given, and no others."""

    def __init__(self, store: WorkflowStore, transactions: Transactions) -> None:
        self._store = store
        self._transactions = transactions

    async def list(self, organization_id: UUID, page: PageQuery) -> AsyncGenerator[bytes, None]:
        """One page, newest first, as JSON text, written while it is read."""
        facts = (await self._store.count(organization_id), page.skip, page.limit)
        yield b'{"total":%d,"skip":%d,"limit":%d,"items":[' % facts
        comma = b""
        async with aclosing(self._store.page(organization_id, page)) as found:
            async for stored in found:
                yield comma + _workflow(stored).model_dump_json().encode()
                comma = b","
        yield b"]}"

    async def get(self, organization_id: UUID, workflow_id: UUID) -> WorkflowAnswer | None:
        """The workflow, or None."""
        stored = await self._store.get(organization_id, workflow_id)
        return None if stored is None else _answer(stored)

    async def create(
        self, organization_id: UUID, new: NewWorkflow, request: KeyedRequest | None = None
    ) -> KeyedAnswer:
        """Make a workflow; under an idempotency key once.  Raises KeyReused."""
        made = new_workflow(organization_id, new)

        async def work(transaction: Transaction) -> dict[str, Any]:
            await transaction.workflows.insert(made)
            body = _workflow(made).model_dump_json().encode()
            return {"id": made.id, "tag": version_tag(made.version), "body": body}

        result, is_replayed = await self._transactions.run_once(request, work)
        return KeyedAnswer(result["id"], result["tag"], result["body"], is_replayed)

    async def change(
        self,
        organization_id: UUID,
        workflow_id: UUID,
        change: ChangedWorkflow,
        versions: Versions = None,
    ) -> WorkflowAnswer:
        """Change what is named, and nothing else; the workflow as it is then.

        Raises NotFound or VersionMismatch.
        """

        async def work(transaction: Transaction) -> StoredWorkflow:
            before = await transaction.workflows.get(organization_id, workflow_id, versions)
            fields = {name: getattr(change, name) for name in change.model_fields_set}
            if "input_schema" in fields:
                fields["input_schema"] = stored_schema(change.input_schema)
            fields["updated_at"] = max(now(), before.updated_at)
            return await transaction.workflows.change(before, fields)

        return _answer(await self._transactions.run(work))

    async def delete(
        self, organization_id: UUID, workflow_id: UUID, versions: Versions = None
    ) -> None:
        """Delete a workflow.

        Raises NotFound, VersionMismatch, or InUse while trajectories refer to it.  A trajectory
        that is created at the same moment is no worse than any other that names a workflow which
        was never made.
        """

        async def work(transaction: Transaction) -> None:
            before = await transaction.workflows.get(organization_id, workflow_id, versions)
            if await transaction.trajectories.refer_to_workflow(organization_id, workflow_id):
                raise InUse("Trajectories refer to this workflow.")
            await transaction.workflows.delete(before)

        await self._transactions.run(work)


def _answer(stored: StoredWorkflow) -> WorkflowAnswer:
    return WorkflowAnswer(version_tag(stored.version), _workflow(stored))


def _workflow(stored: StoredWorkflow) -> Workflow:
    return Workflow.model_validate(stored, from_attributes=True)
