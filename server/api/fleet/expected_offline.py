"""That a machine will be away for a while, and nobody has to be told."""

from schemas.http import problems
from schemas.resources.tokens import Scope
from schemas.resources.webhooks import ExpectedOffline, NewExpectedOffline
from server.api.machines.paths import MachinePath
from server.web.auditing import record
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler


class ExpectedOfflineHandler(ApiHandler):
    @Endpoint(
        summary="Get until when a machine is expected to be away",
        scope=Scope.MACHINES_READ,
        path=MachinePath,
        answers={200: ExpectedOffline},
        problems=(problems.NOT_FOUND,),
    )
    async def get(self, path: MachinePath) -> None:
        outages = self.services.outages
        self.answer(200, await outages.expected(self.organization_id, path.machine_id))

    @Endpoint(
        summary="Expect a machine to be away",
        description="Webhooks are told of it only where it is away after that time.",
        scope=Scope.MACHINES_WRITE,
        path=MachinePath,
        body=NewExpectedOffline,
        answers={200: ExpectedOffline},
        problems=(problems.NOT_FOUND,),
    )
    async def put(self, path: MachinePath, body: NewExpectedOffline) -> None:
        machine_id = path.machine_id
        expected = await self.services.outages.expect(
            self.organization_id, machine_id, body, by=self.principal.token_name
        )
        await record(
            self, "machine.offline_expected", machine_id, machine_id=machine_id, note=body.reason
        )
        self.answer(200, expected)

    @Endpoint(
        summary="Expect a machine to be there again",
        scope=Scope.MACHINES_WRITE,
        path=MachinePath,
        answers={204: None},
        problems=(problems.NOT_FOUND,),
    )
    async def delete(self, path: MachinePath) -> None:
        machine_id = path.machine_id
        await self.services.outages.expect_no_more(self.organization_id, machine_id)
        await record(self, "machine.offline_not_expected", machine_id, machine_id=machine_id)
        self.answer(204)
