"""Changes are recorded, with who made them, before they are answered."""

from uuid import UUID, uuid4

from server.store.audit import AuditEntry
from server.store.times import now
from server.web.handler import ApiHandler


async def record(
    handler: ApiHandler,
    action: str,
    target: object,
    *,
    machine_id: str | None = None,
    organization_id: UUID | None = None,
) -> None:
    """Record that the caller has done something to what the id ``target`` names.

    In the audit of the caller's organization, or of another.  Raises StoreUnavailable where that
    is not possible; the change itself has happened by then.
    """
    caller = handler.principal
    await handler.services.audit.add(
        AuditEntry(
            id=uuid4().bytes,
            organization_id=organization_id or caller.organization_id,
            created_at=now(),
            action=action,
            token_id=caller.token_id,
            token_name=caller.token_name,
            target=str(target),
            machine_id=machine_id,
            request_id=handler.request_id,
        )
    )
