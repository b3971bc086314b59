"""The rules of private control, which can be taken out; see `tests.simulation.test_rules`."""

import pytest

from server.dispatch.here.machines import MachinesHere
from server.dispatch.questions.control import ControlChanged
from server.machines.link.restrictions import Control
from server.machines.privacy import Privacy
from server.machines.socket import LinkSocket


def show_whoever_asks(patch: pytest.MonkeyPatch) -> None:
    """Nobody looks who has private control when a look begins."""
    patch.setattr(Privacy, "check", lambda *_: None)


def let_looks_go_on(patch: pytest.MonkeyPatch) -> None:
    """A look that is under way when private control begins is answered."""
    change = Privacy.changed

    def changed(self: Privacy, control: Control | None) -> bool:
        looks, self._looks = self._looks, {}
        try:
            return change(self, control)
        finally:
            self._looks = looks

    patch.setattr(Privacy, "changed", changed)


def call_private_what_no_link_has_heard_of(patch: pytest.MonkeyPatch) -> None:
    """Whoever takes control, or makes it private, is answered before the link knows it."""

    async def changed(_: MachinesHere, _link: LinkSocket, _changed: ControlChanged) -> None:
        pass

    patch.setattr(MachinesHere, "control_changed", changed)
