"""What became of a command, for whoever sent it and does not know."""

import json
from uuid import UUID

from pydantic import BaseModel

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.http.queries import PageQuery
from schemas.resources.commands import CommandAnswer, CommandPage, CommandView
from schemas.resources.tokens import Scope
from schemas.values.scalars import MachineId
from server.api.machines.answers import answer_to, tells_of_screen
from server.api.machines.asking import AskingHandler
from server.api.machines.paths import MachinePath
from server.dispatch.questions.inputs import KnownCommand, LookUp
from server.dispatch.recorder import command_item
from server.web.endpoint import Endpoint

DESCRIPTION = (
    "For whoever got 504 outcome-pending.  Asks the machine where the outcome is not known yet. "
    "Commands with an Idempotency-Key are known for as long as the key is; others only once they "
    "were answered with outcome-pending.  An answer that says what was on the screen needs "
    "screen:read as well, as its input did."
)


class CommandPath(BaseModel):
    """Names a command."""

    command_id: UUID


class MachineCommandPath(CommandPath):
    """Names a command of a machine."""

    machine_id: MachineId


def _look(summary: str, path: type[CommandPath]) -> Endpoint:
    return Endpoint(
        summary=summary,
        description=DESCRIPTION,
        scope=Scope.INPUT_SEND,
        for_bound=True,
        path=path,
        answers={200: CommandView},
        problems=(problems.NOT_FOUND,),
    )


class CommandHandler(AskingHandler):
    """A command by its id alone."""

    @_look("Get the state of a command", CommandPath)
    async def get(self, path: CommandPath) -> None:
        await self.answer_with(path.command_id)

    async def answer_with(self, command_id: UUID, machine_id: str | None = None) -> None:
        """Answer with what the ledger has of a command, of this machine where one is named."""
        known = await self.ask(
            LookUp(
                organization_id=self.organization_id,
                command_id=command_id,
                machine_id=machine_id,
            )
        )
        reach = self.services.machines.reach
        if known is None or not await reach.has(self.principal, known.machine_id):
            raise ProblemError(problems.NOT_FOUND, f"no command {command_id} is known")
        if known.ended is not None and tells_of_screen(known.ended.outcome):
            self.principal.require(Scope.SCREEN_READ)
        self.answer(200, command_view(known))


class MachineCommandsHandler(AskingHandler):
    """What was done on a machine."""

    @Endpoint(
        summary="List the inputs of a machine",
        description="Who sent what, when and how it ended, newest first; never what was "
        "typed.  An input follows within about a second of its end, and stays for as long as "
        "the audit is kept.  A stretch of work by hand is one item.",
        scope=Scope.MACHINES_READ,
        path=MachinePath,
        query=PageQuery,
        answers={200: CommandPage},
        problems=(problems.NOT_FOUND,),
    )
    async def get(self, path: MachinePath, query: PageQuery) -> None:
        organization_id = self.organization_id
        await self.services.machines.fleet.check(organization_id, path.machine_id)
        stored, total = await self.services.audit.commands(organization_id, path.machine_id, query)
        items = [item for entry in stored if (item := command_item(entry)) is not None]
        self.answer(200, CommandPage(items=items, total=total, skip=query.skip, limit=query.limit))


class MachineCommandHandler(CommandHandler):
    """A command by its machine and its id."""

    @_look("Get the state of a command of a machine", MachineCommandPath)
    async def get(self, path: MachineCommandPath) -> None:
        await self.answer_with(path.command_id, path.machine_id)


def command_view(known: KnownCommand) -> CommandView:
    """What is known of a command, as its sender may see it."""
    answer = None if known.ended is None else answer_to(known.ended)
    return CommandView(
        command_id=known.command_id,
        machine_id=known.machine_id,
        operation=known.operation,
        state=known.state,
        final=known.is_final,
        accepted_at=known.accepted_at,
        expires_at=known.expires_at,
        final_at=known.final_at,
        answer=answer
        and CommandAnswer(
            status=answer.status, body=json.loads(answer.body) if answer.body else None
        ),
    )
