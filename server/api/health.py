"""Whether this node lives, and whether it can work."""

from pydantic import BaseModel

from schemas.http import problems
from server.web.endpoint import Endpoint, endpoint
from server.web.handler import ApiHandler


class Health(BaseModel):
    """All is well."""

    status: str = "ok"


class LiveHandler(ApiHandler):
    @endpoint(
        Endpoint(
            summary="Whether the process lives", scope=None, public=True, answers={200: Health}
        )
    )
    async def get(self) -> None:
        self.answer(200, Health())


class ReadyHandler(ApiHandler):
    @endpoint(
        Endpoint(
            summary="Whether requests can be served",
            scope=None,
            public=True,
            answers={200: Health},
            problems=(problems.STORAGE_UNAVAILABLE,),
        )
    )
    async def get(self) -> None:
        await self.services.database.ping()
        self.answer(200, Health())
