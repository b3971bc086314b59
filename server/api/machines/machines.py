"""Machines: made, listed, changed, removed."""

from uuid import uuid4

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.http.queries import PageQuery
from schemas.resources.machines import (
    CreatedMachine,
    Machine,
    MachineChange,
    MachinePage,
    NewMachine,
)
from schemas.resources.tokens import NewToken, Scope
from server.api.machines.asking import AskingHandler, no_such_machine
from server.api.machines.paths import MachinePath
from server.dispatch.questions.control import MachineRemoved, PauseChanged
from server.identity.tokens import create_token
from server.store.errors import AlreadyExists
from server.web.auditing import record
from server.web.endpoint import Endpoint, endpoint


class MachinesHandler(AskingHandler):
    @endpoint(
        Endpoint(
            summary="List machines",
            scope=Scope.MACHINES_READ,
            query=PageQuery,
            answers={200: MachinePage},
        )
    )
    async def get(self, query: PageQuery) -> None:
        organization_id = self.principal.organization_id
        stored, total = await self.services.machines.list(organization_id, query)
        items = await self.services.machine_views.of_all(organization_id, stored)
        self.answer(200, MachinePage(items=items, total=total, skip=query.skip, limit=query.limit))

    @endpoint(
        Endpoint(
            summary="Add a machine",
            description="The answer holds the token that the machine connects with; it is shown "
            "this once.",
            scope=Scope.MACHINES_WRITE,
            body=NewMachine,
            answers={201: CreatedMachine},
            problems=(problems.CONFLICT,),
        )
    )
    async def post(self, body: NewMachine) -> None:
        machine_id = body.id or str(uuid4())
        try:
            stored = await self.services.machines.create(
                self.principal.organization_id, machine_id, body.name or machine_id
            )
        except AlreadyExists:
            raise ProblemError(
                problems.CONFLICT, f"there is a machine {machine_id!r} already"
            ) from None
        self.services.machine_events.changed(self.principal.organization_id, machine_id)
        token = await create_token(
            self.services.tokens,
            self.principal.organization_id,
            NewToken(
                name=f"machine {machine_id}",
                scopes=[Scope.MACHINE_CONNECT],
                machine_id=machine_id,
            ),
        )
        await record(self, "machine.added", machine_id, machine_id=machine_id)
        view = await self.services.machine_views.of(stored)
        self.answer(201, CreatedMachine(**dict(view), token=token))


class MachineHandler(AskingHandler):
    @endpoint(
        Endpoint(
            summary="Get a machine",
            scope=Scope.MACHINES_READ,
            path=MachinePath,
            answers={200: Machine},
            problems=(problems.NOT_FOUND,),
        )
    )
    async def get(self, path: MachinePath) -> None:
        stored = await self.services.machines.get(self.principal.organization_id, path.machine_id)
        if stored is None:
            raise no_such_machine(path.machine_id)
        self.answer(200, await self.services.machine_views.of(stored))

    @endpoint(
        Endpoint(
            summary="Rename, pause or resume a machine",
            scope=Scope.MACHINES_WRITE,
            path=MachinePath,
            body=MachineChange,
            answers={200: Machine},
            problems=(problems.NOT_FOUND,),
        )
    )
    async def patch(self, path: MachinePath, body: MachineChange) -> None:
        organization_id = self.principal.organization_id
        stored = await self.services.machines.change(
            organization_id, path.machine_id, name=body.name, paused=body.paused
        )
        if stored is None:
            raise no_such_machine(path.machine_id)
        if body.paused is not None:
            await self.ask(
                PauseChanged(organization_id=organization_id, machine_id=path.machine_id)
            )
        self.services.machine_events.changed(organization_id, path.machine_id)
        if body.name is not None:
            await record(self, "machine.renamed", path.machine_id, machine_id=path.machine_id)
        if body.paused is not None:
            action = "machine.paused" if body.paused else "machine.resumed"
            await record(self, action, path.machine_id, machine_id=path.machine_id)
        self.answer(200, await self.services.machine_views.of(stored))

    @endpoint(
        Endpoint(
            summary="Remove a machine, its tokens and its link",
            scope=Scope.MACHINES_WRITE,
            path=MachinePath,
            answers={204: None},
            problems=(problems.NOT_FOUND,),
        )
    )
    async def delete(self, path: MachinePath) -> None:
        organization_id = self.principal.organization_id
        removed = MachineRemoved(organization_id=organization_id, machine_id=path.machine_id)
        await self.services.tokens.revoke_of_machine(organization_id, path.machine_id)
        # Now another node's link can still be found; and again for one that was just coming up.
        await self.ask(removed)
        if not await self.services.machines.delete(organization_id, path.machine_id):
            raise no_such_machine(path.machine_id)
        await self.ask(removed)
        self.services.machine_events.changed(organization_id, path.machine_id)
        await record(self, "machine.removed", path.machine_id, machine_id=path.machine_id)
        self.answer(204)
