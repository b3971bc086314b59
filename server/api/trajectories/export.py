"""Trajectories as JSON lines, to be kept elsewhere or imported again."""

from schemas.http import problems
from schemas.resources.tokens import Scope
from schemas.resources.trajectories import ExportQuery
from server.web.endpoint import Endpoint
from server.web.streaming import StreamingHandler


class ExportHandler(StreamingHandler):
    @Endpoint(
        summary="Export trajectories",
        description="Oldest first, one JSON object a line, each as POST /v1/trajectories "
        "takes it, with its id and times.  Where the answer breaks off, go on after the last "
        "whole line.",
        scope=Scope.TRAJECTORIES_READ,
        query=ExportQuery,
        answers={200: None},
        problems=(problems.TOO_MANY_STREAMS,),
        media_type="application/jsonl",
    )
    async def get(self, query: ExportQuery) -> None:
        within = await self.services.machines.reach.machines(self.principal)
        trajectories = self.services.library.trajectories
        self.set_header("Content-Type", "application/jsonl")
        await self.stream(trajectories.export(self.organization_id, query, within))
