import pytest

from server.machines.link.errors import (
    ControlEndedError,
    MachineControlledError,
    MachinePausedError,
)
from server.machines.link.restrictions import NONE, Control, Pause, Restrictions

CONTROL = Control("lease_hash", "Ada", 5)
PAUSE = Pause(7, "Bob paused the machine")


def test_unrestricted_machine_takes_inputs_of_everybody_but_with_a_lease_that_is_over() -> None:
    NONE.check(None)
    with pytest.raises(ControlEndedError):
        NONE.check("lease_hash")


def test_paused_machine_takes_none() -> None:
    with pytest.raises(MachinePausedError) as caught:
        Restrictions(PAUSE).check(None)
    assert (caught.value.since, caught.value.why) == (7, "Bob paused the machine")
    with pytest.raises(ControlEndedError):
        Restrictions(PAUSE).check("lease_hash")


@pytest.mark.parametrize("pause", [None, PAUSE])
def test_holder_passes_and_nobody_else(pause: Pause | None) -> None:
    restrictions = Restrictions(pause, CONTROL)
    restrictions.check("lease_hash")
    with pytest.raises(ControlEndedError):
        restrictions.check("another")
    with pytest.raises(MachineControlledError) as caught:
        restrictions.check(None)
    assert (caught.value.by, caught.value.since) == ("Ada", 5)
