"""Whether this node lives, and whether it can work."""

from pydantic import BaseModel

from schemas import problems
from server.api.base import ApiHandler
from server.api.operation import Operation, operation


class Health(BaseModel):
    """All is well."""

    status: str = "ok"


class LiveHandler(ApiHandler):
    @operation(
        Operation(
            summary="Whether the process lives", scope=None, public=True, answers={200: Health}
        )
    )
    async def get(self) -> None:
        self.answer(200, Health())


class ReadyHandler(ApiHandler):
    @operation(
        Operation(
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
