"""The webhooks of organizations: made, changed, tried; and their deliveries."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.http.queries import PageQuery
from schemas.resources.webhooks import (
    MOST_WEBHOOKS,
    CreatedWebhook,
    Delivery,
    DeliveryPage,
    NewWebhook,
    SecretRotation,
    Webhook,
    WebhookChange,
    WebhookPage,
)
from server.fleet.pools import Pools
from server.store.times import now
from server.store.webhooks.outbox import Outbox, StoredDelivery, new_delivery
from server.store.webhooks.webhooks import StoredWebhook, WebhookStore
from server.webhooks.delivering import Delivering, envelope
from server.webhooks.signatures import new_secret

TEST_EVENT = "test"


class Webhooks:
    """Every method sees the webhooks of the organization it is given, and no others.

    Whatever names one that is not there raises a ``404`` problem.
    """

    def __init__(
        self, webhooks: WebhookStore, outbox: Outbox, delivering: Delivering, pools: Pools
    ) -> None:
        self._webhooks = webhooks
        self._outbox = outbox
        self._delivering = delivering
        self._pools = pools

    async def add(self, organization_id: UUID, new: NewWebhook, *, by: str) -> CreatedWebhook:
        """Make a webhook.  Raises a validation error for a pool that is not there."""
        if await self._webhooks.count(organization_id) >= MOST_WEBHOOKS:
            raise ProblemError(
                problems.WRONG_STATE, f"an organization has at most {MOST_WEBHOOKS} webhooks"
            )
        stored = StoredWebhook(
            id=uuid4(),
            organization_id=organization_id,
            url=new.url,
            events=new.events,
            pool_ids=await self._pools.check(organization_id, new.pool_ids),
            description=new.description,
            created_at=now(),
            created_by=by,
            secret=new_secret(),
            quiet_hours=None if new.quiet_hours is None else new.quiet_hours.model_dump(),
        )
        await self._webhooks.insert(stored)
        return CreatedWebhook(**dict(await self._view(stored)), secret=stored.secret)

    async def page(self, organization_id: UUID, page: PageQuery) -> WebhookPage:
        """One page of them, newest first."""
        stored, total = await self._webhooks.list(organization_id, page)
        items = [await self._view(each) for each in stored]
        return WebhookPage(items=items, total=total, skip=page.skip, limit=page.limit)

    async def get(self, organization_id: UUID, webhook_id: UUID) -> Webhook:
        """One webhook."""
        return await self._view(await self._stored(organization_id, webhook_id))

    async def change(
        self, organization_id: UUID, webhook_id: UUID, change: WebhookChange
    ) -> Webhook:
        """Change what is given; what waits is posted to the address that it has then."""
        changes = change.model_dump(exclude_unset=True)
        for field in ("url", "events", "pool_ids"):
            if changes.get(field, ...) is None:
                del changes[field]
        if "pool_ids" in changes:
            changes["pool_ids"] = await self._pools.check(organization_id, changes["pool_ids"])
        if not changes:
            return await self.get(organization_id, webhook_id)
        return await self._changed(organization_id, webhook_id, changes)

    async def rotate(
        self, organization_id: UUID, webhook_id: UUID, rotation: SecretRotation
    ) -> CreatedWebhook:
        """Give a webhook a new secret; the one before signs as well for a time."""
        stored = await self._stored(organization_id, webhook_id)
        secret, until = new_secret(), now() + timedelta(seconds=rotation.overlap)
        changes = {"secret": secret, "earlier_secret": stored.secret, "earlier_until": until}
        view = await self._changed(organization_id, webhook_id, changes)
        return CreatedWebhook(**dict(view), secret=secret)

    async def remove(self, organization_id: UUID, webhook_id: UUID) -> Webhook:
        """Remove a webhook, with what waits for it; it is answered as it was."""
        view = await self.get(organization_id, webhook_id)
        if not await self._webhooks.delete(organization_id, webhook_id):
            raise _unknown(webhook_id)
        return view

    async def test(self, organization_id: UUID, webhook_id: UUID) -> Delivery:
        """Post something to a webhook that says that nothing happened."""
        await self._stored(organization_id, webhook_id)
        body = envelope(TEST_EVENT, now(), {"webhook_id": str(webhook_id)})
        made = new_delivery(organization_id, webhook_id, uuid4(), TEST_EVENT, body)
        await self._delivering.add(made)
        return _delivery_view(made)

    async def deliveries(
        self, organization_id: UUID, webhook_id: UUID, page: PageQuery
    ) -> DeliveryPage:
        """One page of a webhook's deliveries, newest first."""
        webhook = await self._stored(organization_id, webhook_id)
        stored, total = await self._outbox.list(webhook_id, page)
        return DeliveryPage(
            items=[_delivery_view(each) for each in stored],
            total=total,
            skip=page.skip,
            limit=page.limit,
            dropped=webhook.dropped,
        )

    async def resend(self, organization_id: UUID, webhook_id: UUID, delivery_id: UUID) -> Delivery:
        """Post a delivery again, at once, under its id."""
        stored = await self._outbox.resend(organization_id, webhook_id, delivery_id)
        if stored is None:
            raise ProblemError(
                problems.NOT_FOUND,
                f"webhook {webhook_id} has no delivery {delivery_id} that could be sent again: a "
                "digest can be once its quiet hours are over",
            )
        self._delivering.look_soon()
        return _delivery_view(stored)

    async def _changed(
        self, organization_id: UUID, webhook_id: UUID, changes: dict[str, Any]
    ) -> Webhook:
        stored = await self._webhooks.change(organization_id, webhook_id, changes)
        if stored is None:
            raise _unknown(webhook_id)
        return await self._view(stored)

    async def _stored(self, organization_id: UUID, webhook_id: UUID) -> StoredWebhook:
        stored = await self._webhooks.get(organization_id, webhook_id)
        if stored is None:
            raise _unknown(webhook_id)
        return stored

    async def _view(self, stored: StoredWebhook) -> Webhook:
        pools = await self._pools.references(stored.organization_id, stored.pool_ids)
        return Webhook.model_validate({**vars(stored), "pools": pools})


def _delivery_view(stored: StoredDelivery) -> Delivery:
    return Delivery.model_validate(stored, from_attributes=True)


def _unknown(webhook_id: UUID) -> ProblemError:
    return ProblemError(problems.NOT_FOUND, f"there is no webhook {webhook_id}")
