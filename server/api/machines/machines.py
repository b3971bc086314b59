"""Machines: made, listed, changed, removed."""

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.http.queries import PageQuery
from schemas.resources.actions import Action
from schemas.resources.invitations import Invitation
from schemas.resources.machine_lists import MachinePage, MachineQuery
from schemas.resources.machines import (
    CreatedMachine,
    Machine,
    MachineChange,
    NewMachine,
)
from schemas.resources.pools import tags_note
from schemas.resources.tokens import Scope
from schemas.resources.troubles import TroublePage
from server.api.machines.asking import AskingHandler
from server.api.machines.paths import MachinePath
from server.errors import AlreadyExists
from server.identity.granting import check_pools
from server.web.auditing import record
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler


class MachinesHandler(ApiHandler):
    @Endpoint(
        summary="List machines",
        description="Those that fit all filters, with exact totals.",
        scope=Scope.MACHINES_READ,
        for_bound=True,
        query=MachineQuery,
        answers={200: MachinePage},
    )
    async def get(self, query: MachineQuery) -> None:
        fleet = self.services.machines.fleet
        self.answer(200, await fleet.page(self.organization_id, query, self.principal.pools))

    @Endpoint(
        summary="Add a machine",
        description="The answer holds the token that the machine connects with; it is shown "
        "this once.",
        scope=Scope.MACHINES_WRITE,
        for_bound=True,
        body=NewMachine,
        answers={201: CreatedMachine},
        problems=(problems.CONFLICT,),
    )
    async def post(self, body: NewMachine) -> None:
        fleet = self.services.machines.fleet
        if body.tags or body.pool_ids:
            self.principal.require(Scope.POOLS_WRITE)
        check_pools(self.principal, body.pool_ids)
        try:
            stored, token = await fleet.add(self.organization_id, body, self.principal.pools)
        except AlreadyExists:
            raise ProblemError(
                problems.CONFLICT, f"there is a machine {body.id!r} already"
            ) from None
        await record(self, "machine.added", stored.machine_id, machine_id=stored.machine_id)
        self.answer(201, CreatedMachine(**dict(await fleet.view(stored)), token=token))


class MachineHandler(AskingHandler):
    @Endpoint(
        summary="Get a machine",
        scope=Scope.MACHINES_READ,
        path=MachinePath,
        answers={200: Machine},
        problems=(problems.NOT_FOUND,),
    )
    async def get(self, path: MachinePath) -> None:
        machine = await self.services.machines.fleet.get(self.organization_id, path.machine_id)
        self.answer(200, machine)

    @Endpoint(
        summary="Rename, tag, pause or resume a machine",
        description="A paused machine takes inputs of nobody but who has control of it.  Who "
        "is refused is told who paused it, why and until when.  Pausing it again names these "
        "anew, and since stays.",
        scope=Scope.MACHINES_WRITE,
        path=MachinePath,
        body=MachineChange,
        answers={200: Machine},
        problems=(problems.NOT_FOUND,),
    )
    async def patch(self, path: MachinePath, body: MachineChange) -> None:
        fleet = self.services.machines.fleet
        if body.tags is not None:
            self.principal.require(Scope.POOLS_WRITE)
        stored = await fleet.change(
            self.organization_id, path.machine_id, body, by=self.principal.token_name
        )
        if body.name is not None:
            await record(self, "machine.renamed", path.machine_id, machine_id=path.machine_id)
        if body.tags is not None:
            note = tags_note(body.tags)
            await record(
                self, "machine.tagged", path.machine_id, machine_id=path.machine_id, note=note
            )
        if body.paused is not None:
            action: Action = "machine.paused" if body.paused else "machine.resumed"
            why = body.pause_reason
            await record(self, action, path.machine_id, machine_id=path.machine_id, note=why)
        self.answer(200, await fleet.view(stored))

    @Endpoint(
        summary="Remove a machine, its tokens and its link",
        scope=Scope.MACHINES_WRITE,
        path=MachinePath,
        answers={204: None},
        problems=(problems.NOT_FOUND,),
    )
    async def delete(self, path: MachinePath) -> None:
        await self.services.machines.fleet.remove(self.organization_id, path.machine_id)
        await record(self, "machine.removed", path.machine_id, machine_id=path.machine_id)
        self.answer(204)


class TroubleHandler(AskingHandler):
    @Endpoint(
        summary="List what was wrong with a machine",
        description="When it was offline, took no input or could not be seen, why and for how "
        "long: of the last 30 days, at most the last 100 that are over.  What is not over stands "
        "first.  A connection that another one replaced at once is no trouble.",
        scope=Scope.MACHINES_READ,
        path=MachinePath,
        query=PageQuery,
        answers={200: TroublePage},
        problems=(problems.NOT_FOUND,),
    )
    async def get(self, path: MachinePath, query: PageQuery) -> None:
        fleet = self.services.machines.fleet
        self.answer(200, await fleet.trouble(self.organization_id, path.machine_id, query))


class RotateHandler(AskingHandler):
    @Endpoint(
        summary="Have a machine change its token",
        description="Its client makes itself a new token and comes back with it; then the others "
        "fall.  What runs on the machine is interrupted, as by any lost link.  The answer is the "
        "invitation that it comes back with: once it is used, the token is changed.",
        scope=Scope.MACHINES_WRITE,
        path=MachinePath,
        answers={202: Invitation},
        problems=(problems.NOT_FOUND, problems.MACHINE_UNAVAILABLE),
    )
    async def post(self, path: MachinePath) -> None:
        invitation = await self.services.machines.rotations.begin(
            self.organization_id, path.machine_id, by=self.principal.token_name
        )
        self.answer(202, invitation)
