"""Webhooks: made, changed, tried, and looked after."""

from uuid import UUID

from pydantic import BaseModel

from schemas.http import problems
from schemas.http.queries import PageQuery
from schemas.resources.tokens import Scope
from schemas.resources.webhooks import (
    CreatedWebhook,
    Delivery,
    DeliveryPage,
    NewWebhook,
    SecretRotation,
    Webhook,
    WebhookChange,
    WebhookPage,
)
from server.web.auditing import record
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler


class WebhookPath(BaseModel):
    """Names a webhook."""

    webhook_id: UUID


class DeliveryPath(WebhookPath):
    """Names one of its deliveries."""

    delivery_id: UUID


class WebhooksHandler(ApiHandler):
    @Endpoint(
        summary="List webhooks",
        scope=Scope.WEBHOOKS_WRITE,
        query=PageQuery,
        answers={200: WebhookPage},
    )
    async def get(self, query: PageQuery) -> None:
        self.answer(200, await self.services.webhooks.page(self.organization_id, query))

    @Endpoint(
        summary="Make a webhook",
        description="The answer is the only one that shows the secret, with which what is posted "
        "is signed.",
        scope=Scope.WEBHOOKS_WRITE,
        body=NewWebhook,
        answers={201: CreatedWebhook},
        problems=(problems.WRONG_STATE,),
    )
    async def post(self, body: NewWebhook) -> None:
        made = await self.services.webhooks.add(
            self.organization_id, body, by=self.principal.token_name
        )
        await record(self, "webhook.created", made.id, target_name=made.description)
        self.answer(201, made)


class WebhookHandler(ApiHandler):
    @Endpoint(
        summary="Get a webhook",
        scope=Scope.WEBHOOKS_WRITE,
        path=WebhookPath,
        answers={200: Webhook},
        problems=(problems.NOT_FOUND,),
    )
    async def get(self, path: WebhookPath) -> None:
        webhooks = self.services.webhooks
        self.answer(200, await webhooks.get(self.organization_id, path.webhook_id))

    @Endpoint(
        summary="Change a webhook",
        description="What waits is posted to the address that it has then.",
        scope=Scope.WEBHOOKS_WRITE,
        path=WebhookPath,
        body=WebhookChange,
        answers={200: Webhook},
        problems=(problems.NOT_FOUND,),
    )
    async def patch(self, path: WebhookPath, body: WebhookChange) -> None:
        webhooks = self.services.webhooks
        changed = await webhooks.change(self.organization_id, path.webhook_id, body)
        await record(self, "webhook.changed", changed.id, target_name=changed.description)
        self.answer(200, changed)

    @Endpoint(
        summary="Remove a webhook",
        description="With its deliveries: what waits is not posted any more.",
        scope=Scope.WEBHOOKS_WRITE,
        path=WebhookPath,
        answers={204: None},
        problems=(problems.NOT_FOUND,),
    )
    async def delete(self, path: WebhookPath) -> None:
        removed = await self.services.webhooks.remove(self.organization_id, path.webhook_id)
        await record(self, "webhook.removed", removed.id, target_name=removed.description)
        self.answer(204)


class WebhookRotateHandler(ApiHandler):
    @Endpoint(
        summary="Give a webhook a new secret",
        description="The answer alone shows it.  For a time, what is posted is signed with the one "
        "before as well.",
        scope=Scope.WEBHOOKS_WRITE,
        path=WebhookPath,
        body=SecretRotation,
        answers={200: CreatedWebhook},
        problems=(problems.NOT_FOUND,),
    )
    async def post(self, path: WebhookPath, body: SecretRotation) -> None:
        webhooks = self.services.webhooks
        rotated = await webhooks.rotate(self.organization_id, path.webhook_id, body)
        await record(self, "webhook.rotated", rotated.id, target_name=rotated.description)
        self.answer(200, rotated)


class WebhookTestHandler(ApiHandler):
    @Endpoint(
        summary="Send a test to a webhook",
        description="Its deliveries say how that went.",
        scope=Scope.WEBHOOKS_WRITE,
        path=WebhookPath,
        answers={202: Delivery},
        problems=(problems.NOT_FOUND,),
    )
    async def post(self, path: WebhookPath) -> None:
        made = await self.services.webhooks.test(self.organization_id, path.webhook_id)
        await record(self, "webhook.tested", path.webhook_id)
        self.answer(202, made)


class DeliveriesHandler(ApiHandler):
    @Endpoint(
        summary="List the deliveries of a webhook",
        description="Those that have ended are kept for seven days.",
        scope=Scope.WEBHOOKS_WRITE,
        path=WebhookPath,
        query=PageQuery,
        answers={200: DeliveryPage},
        problems=(problems.NOT_FOUND,),
    )
    async def get(self, path: WebhookPath, query: PageQuery) -> None:
        webhooks = self.services.webhooks
        self.answer(200, await webhooks.deliveries(self.organization_id, path.webhook_id, query))


class ResendHandler(ApiHandler):
    @Endpoint(
        summary="Send a delivery again",
        description="At once, under the same id, and for three days more where it fails.",
        scope=Scope.WEBHOOKS_WRITE,
        path=DeliveryPath,
        answers={202: Delivery},
        problems=(problems.NOT_FOUND,),
    )
    async def post(self, path: DeliveryPath) -> None:
        again = await self.services.webhooks.resend(
            self.organization_id, path.webhook_id, path.delivery_id
        )
        await record(self, "webhook.resent", path.webhook_id, note=str(path.delivery_id))
        self.answer(202, again)
