"""Changes are recorded, with who made them, before they are answered."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from uuid import UUID, uuid4

from schemas.resources.actions import Action
from schemas.resources.audit import Grant
from server.store.audit import AuditEntry
from server.store.times import now
from server.web.handler import ApiHandler


async def record(
    handler: ApiHandler,
    action: Action,
    target: object,
    *,
    machine_id: str | None = None,
    organization_id: UUID | None = None,
    note: str | None = None,
    target_name: str | None = None,
    grant: Grant | None = None,
) -> None:
    """Record that the caller has done something to what the id ``target`` names.

    ``note`` is what they wrote about it.  ``target_name`` and ``grant`` are what the entry
    says when the target is gone: what it was called and, of a token, what it allowed.

    In the audit of the caller's organization, or of another.  Raises StoreUnavailable where that
    is not possible; the change itself has happened by then.
    """
    entry = replace(
        _entry(handler, action, target),
        organization_id=organization_id or handler.organization_id,
        machine_id=machine_id,
        note=note,
        target_name=target_name,
        grant=grant,
    )
    await handler.services.audit.add(entry)


async def record_many(handler: ApiHandler, action: Action, targets: Iterable[object]) -> None:
    """Record that the caller has done the same to several things, as ``record`` does of one."""
    entries = [_entry(handler, action, target) for target in targets]
    await handler.services.audit.add_changes(entries)


async def record_on_machines(
    handler: ApiHandler, action: Action, targets: Mapping[UUID, str | None]
) -> None:
    """Record that the caller has done the same to several things, each on a machine or on none."""
    entries = [
        replace(_entry(handler, action, target), machine_id=machine_id)
        for target, machine_id in targets.items()
    ]
    await handler.services.audit.add_changes(entries)


async def record_machines(
    handler: ApiHandler, action: Action, notes: Mapping[str, str | None]
) -> None:
    """Record that the caller has done the same to several machines, with a note about each."""
    entries = [
        replace(_entry(handler, action, machine_id), machine_id=machine_id, note=note)
        for machine_id, note in notes.items()
    ]
    await handler.services.audit.add_changes(entries)


def _entry(handler: ApiHandler, action: Action, target: object) -> AuditEntry:
    caller = handler.principal
    return AuditEntry(
        id=uuid4().bytes,
        organization_id=caller.organization_id,
        created_at=now(),
        action=action,
        token_id=caller.token_id,
        token_name=caller.token_name,
        target=str(target),
        machine_id=None,
        request_id=handler.request_id,
    )
