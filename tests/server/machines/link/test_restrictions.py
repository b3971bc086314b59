import pytest

from server.machines.link.errors import (
    ControlEndedError,
    MachineControlledError,
    MachinePausedError,
)
from server.machines.link.restrictions import NONE, Control, Restrictions

CONTROL = Control("lease_hash", "Ada", 5)


def test_unrestricted_machine_takes_inputs_of_everybody_but_with_a_lease_that_is_over() -> None:
    NONE.check(None)
    with pytest.raises(ControlEndedError):
        NONE.check("lease_hash")


def test_paused_machine_takes_none() -> None:
    with pytest.raises(MachinePausedError) as caught:
        Restrictions(paused_since=7).check(None)
    assert caught.value.since == 7
    with pytest.raises(ControlEndedError):
        Restrictions(paused_since=7).check("lease_hash")


@pytest.mark.parametrize("paused_since", [None, 7])
def test_holder_passes_and_nobody_else(paused_since: int | None) -> None:
    restrictions = Restrictions(paused_since, CONTROL)
    restrictions.check("lease_hash")
    with pytest.raises(ControlEndedError):
        restrictions.check("another")
    with pytest.raises(MachineControlledError) as caught:
        restrictions.check(None)
    assert (caught.value.by, caught.value.since) == ("Ada", 5)
