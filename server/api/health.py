"""Whether this node lives, and whether it can work."""

from typing import Literal

from pydantic import BaseModel, Field

from schemas.http import problems
from server.web.authorization import server_stopping
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler


class Health(BaseModel):
    """All is well."""

    status: str = "ok"


class Readiness(Health):
    """Requests can be served."""

    node: str | None = Field(description="Which node this is, of several.")
    bus: Literal["alone", "connected", "away"] = Field(
        description="Whether machines of other nodes can be reached; alone is without any."
    )


class LiveHandler(ApiHandler):
    @Endpoint(summary="Whether the process lives", scope=None, public=True, answers={200: Health})
    async def get(self) -> None:
        self.answer(200, Health())


class ReadyHandler(ApiHandler):
    @Endpoint(
        summary="Whether requests can be served",
        scope=None,
        public=True,
        answers={200: Readiness},
        problems=(problems.STORAGE_UNAVAILABLE, problems.SERVER_STOPPING),
    )
    async def get(self) -> None:
        if self.services.operation.leaving:
            raise server_stopping()
        await self.services.operation.database.ping()
        cluster = self.services.cluster
        if not self.services.settings.has_nats:
            self.answer(200, Readiness(node=None, bus="alone"))
            return
        bus: Literal["connected", "away"] = "connected" if cluster.bus.is_connected else "away"
        self.answer(200, Readiness(node=cluster.node.name, bus=bus))
