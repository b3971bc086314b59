"""The rules of control, each of which can be taken out; see `tests.simulation.test_rules`."""

from uuid import UUID

import pytest

from machine_client.link.events import Effect, SendMessage
from machine_client.link.session import Session
from machine_client.work.orders import InterruptCommands
from schemas.link.messages import Interrupted
from server.dispatch.here.machines import MachinesHere
from server.dispatch.questions.control import ControlChanged
from server.machines.link.restrictions import Restrictions
from server.machines.socket import LinkSocket
from tests.simulation.client import Client


def confirm_what_is_not_interrupted(patch: pytest.MonkeyPatch) -> None:
    """The machine client says at once that nothing runs."""

    def interrupt(self: Session, request: UUID) -> list[Effect]:
        return [SendMessage(Interrupted(request=request)), InterruptCommands(request)]

    patch.setattr(Session, "_interrupt", interrupt)


def begin_what_waited_before_the_interrupt(patch: pytest.MonkeyPatch) -> None:
    """The running input is ended, and the one behind it begins."""

    def interrupt(self: Session, request: UUID) -> list[Effect]:
        self._interrupts.add(request)
        return [InterruptCommands(request)]

    patch.setattr(Session, "_interrupt", interrupt)


def keep_pressed_what_was_held(patch: pytest.MonkeyPatch) -> None:
    """An interrupt releases nothing."""

    def end(self: Client, request: UUID) -> None:
        held, self.hand.held = self.hand.held, []
        _end(self, request)
        self.hand.held = held

    _end = Client._end_interrupt
    patch.setattr(Client, "_end_interrupt", end)


def give_control_before_the_machine_has_confirmed(patch: pytest.MonkeyPatch) -> None:
    """Control begins when the link knows of it."""

    async def changed(self: MachinesHere, link: LinkSocket, _: ControlChanged) -> None:
        await self._admission.restrictions_changed(link)

    patch.setattr(MachinesHere, "control_changed", changed)


def let_everybody_send(patch: pytest.MonkeyPatch) -> None:
    """A link does not look who has control."""
    patch.setattr(Restrictions, "check", lambda *_: None)
