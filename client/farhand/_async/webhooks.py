"""Webhooks: addresses that are told what happens, and what was posted to them."""

from collections.abc import AsyncIterator, Iterable, Sequence
from uuid import UUID

from farhand._async.connection import AsyncConnection
from farhand._async.lists import AsyncLists
from farhand.types import CreatedWebhook, Delivery, Webhook


class AsyncWebhooks:
    """Addresses that are told what happens."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    def list(self, *, limit: int | None = None) -> AsyncIterator[Webhook]:
        """All, or the first ``limit``, newest first."""
        return AsyncLists(self._connection).items(Webhook, "/v1/webhooks", {}, limit)

    async def create(
        self,
        url: str,
        events: Sequence[str],
        *,
        pool_ids: Iterable[UUID | str] = (),
        description: str | None = None,
    ) -> CreatedWebhook:
        """Make a webhook; this answer alone has the secret that signs what is posted."""
        pools = [str(each) for each in pool_ids]
        body = {"url": url, "events": [*events], "pool_ids": pools, "description": description}
        return await self._connection.call(CreatedWebhook, "POST", "/v1/webhooks", body)

    async def get(self, webhook_id: UUID | str) -> Webhook:
        """One webhook."""
        return await self._connection.call(Webhook, "GET", f"/v1/webhooks/{webhook_id}")

    async def change(
        self,
        webhook_id: UUID | str,
        *,
        url: str | None = None,
        events: Sequence[str] | None = None,
        pool_ids: Iterable[UUID | str] | None = None,
        description: str | None = None,
    ) -> Webhook:
        """Change a webhook; what is left out stays."""
        given = {
            "url": url,
            "events": None if events is None else [*events],
            "pool_ids": None if pool_ids is None else [str(each) for each in pool_ids],
            "description": description,
        }
        body = {field: value for field, value in given.items() if value is not None}
        return await self._connection.call(Webhook, "PATCH", f"/v1/webhooks/{webhook_id}", body)

    async def rotate(self, webhook_id: UUID | str, *, overlap: int = 86_400) -> CreatedWebhook:
        """Give it a new secret; the one before signs as well for ``overlap`` seconds."""
        path, body = f"/v1/webhooks/{webhook_id}/rotate", {"overlap": overlap}
        return await self._connection.call(CreatedWebhook, "POST", path, body)

    async def remove(self, webhook_id: UUID | str) -> None:
        """Remove a webhook; what waits for it is not posted any more."""
        await self._connection.send("DELETE", f"/v1/webhooks/{webhook_id}")

    async def test(self, webhook_id: UUID | str) -> Delivery:
        """Have a test posted; its deliveries say how that went."""
        return await self._connection.call(Delivery, "POST", f"/v1/webhooks/{webhook_id}/test")

    def deliveries(
        self, webhook_id: UUID | str, *, limit: int | None = None
    ) -> AsyncIterator[Delivery]:
        """What was and will be posted to it, newest first."""
        path = f"/v1/webhooks/{webhook_id}/deliveries"
        return AsyncLists(self._connection).items(Delivery, path, {}, limit)

    async def resend(self, webhook_id: UUID | str, delivery_id: UUID | str) -> Delivery:
        """Have something posted again, under the same id."""
        path = f"/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/resend"
        return await self._connection.call(Delivery, "POST", path)
