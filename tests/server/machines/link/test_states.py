"""The states of a link."""

from server.machines.link.states import GREETED, UP, State


def test_link_that_is_up_was_greeted() -> None:
    assert set(UP) < set(GREETED)
    assert not {State.AWAITING_HELLO, State.ADMITTING, State.CLOSING, State.LOST} & set(GREETED)
