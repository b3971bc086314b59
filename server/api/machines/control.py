"""Control of a machine: taken, renewed and given back."""

from schemas.http import problems
from schemas.resources.actions import Action
from schemas.resources.events import ControlRequested
from schemas.resources.machines import Control, ControlChange, ControlRequest, NewControl
from schemas.resources.tokens import Scope
from server.api.machines.asking import AskingHandler
from server.api.machines.paths import LeasePath, MachinePath
from server.web.auditing import record
from server.web.endpoint import Endpoint


class ControlHandler(AskingHandler):
    """Takes control."""

    @Endpoint(
        summary="Take control of a machine",
        description="From then on inputs without this lease are refused.  Before it is "
        "answered, whatever ran on the machine has ended, and whatever was held is released.  "
        "Control ends after 30 seconds unless it is renewed.  While it is private, nobody else "
        "sees the screen, its elements or the clipboard, and nothing is recorded.",
        scope=Scope.MACHINES_CONTROL,
        path=MachinePath,
        body=NewControl,
        body_required=False,
        answers={201: Control},
        problems=(
            problems.NOT_FOUND,
            problems.CONTROL_HELD,
            problems.CONTROL_ENDED,
            problems.MACHINE_UNAVAILABLE,
        ),
    )
    async def post(self, path: MachinePath, body: NewControl) -> None:
        machine_id = path.machine_id
        control = await self.services.machines.control.take(
            *(self.organization_id, machine_id, self.caller),
            take_over=body.take_over,
            private=body.private,
        )
        action: Action = "control.taken_over" if body.take_over else "control.taken"
        await record(self, action, machine_id, machine_id=machine_id, note=body.note)
        if body.private:
            await record(self, "control.made_private", machine_id, machine_id=machine_id)
        self.answer(201, control)


class ControlRequestHandler(AskingHandler):
    """Asks for control."""

    @Endpoint(
        summary="Ask for control of a machine",
        description="Whoever has it is told by the event control_requested, and gives it back "
        "or not: the event machine tells.  Nothing else changes.",
        scope=Scope.MACHINES_CONTROL,
        path=MachinePath,
        body=ControlRequest,
        body_required=False,
        answers={204: None},
        problems=(problems.NOT_FOUND, problems.CONTROL_FREE),
    )
    async def post(self, path: MachinePath, body: ControlRequest) -> None:
        machine_id, principal = path.machine_id, self.principal
        await self.services.machines.control.check_held(principal.organization_id, machine_id)
        told = ControlRequested(id=machine_id, by=principal.token_name, note=body.note)
        self.services.events.publish(
            principal.organization_id, "control_requested", told, machine_id
        )
        await record(self, "control.requested", machine_id, machine_id=machine_id, note=body.note)
        self.answer(204)


class LeaseHandler(AskingHandler):
    """A lease that somebody has."""

    @Endpoint(
        summary="Renew control of a machine",
        scope=Scope.MACHINES_CONTROL,
        path=LeasePath,
        answers={200: Control},
        problems=(problems.NOT_FOUND, problems.CONTROL_ENDED),
    )
    async def put(self, path: LeasePath) -> None:
        control = await self.services.machines.control.renew(
            self.organization_id, path.machine_id, self.caller, path.lease
        )
        self.answer(200, control)

    @Endpoint(
        summary="Make control of a machine private, or open",
        description="Before it is answered, whoever else watched the screen sees it no more, or "
        "may see it again.  Nothing that runs on the machine ends.",
        scope=Scope.MACHINES_CONTROL,
        path=LeasePath,
        body=ControlChange,
        answers={200: Control},
        problems=(problems.NOT_FOUND, problems.CONTROL_ENDED, problems.MACHINE_UNAVAILABLE),
    )
    async def patch(self, path: LeasePath, body: ControlChange) -> None:
        machine_id = path.machine_id
        changed = await self.services.machines.control.make_private(
            *(self.organization_id, machine_id, self.caller, path.lease), private=body.private
        )
        if changed.has_changed:
            action: Action = "control.made_private" if body.private else "control.made_open"
            await record(self, action, machine_id, machine_id=machine_id)
        self.answer(200, changed.control)

    @Endpoint(
        summary="Give control of a machine back",
        description="Whatever is held on the machine is released.",
        scope=Scope.MACHINES_CONTROL,
        path=LeasePath,
        answers={204: None},
        problems=(problems.NOT_FOUND, problems.CONTROL_ENDED),
    )
    async def delete(self, path: LeasePath) -> None:
        machine_id = path.machine_id
        await self.services.machines.control.end(
            self.organization_id, machine_id, self.caller, path.lease
        )
        await record(self, "control.ended", machine_id, machine_id=machine_id)
        self.answer(204)
