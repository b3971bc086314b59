"""What is said of a run that does not go on."""

from server.runs.finding import Halt
from server.runs.stops import Halting


def test_what_a_screen_shows_is_left_out_where_a_run_has_secrets() -> None:
    halt = Halt("not_usable", "window 'hunter2 - Notes' is disabled", actual=("hunter2",))
    why = Halting.of(halt)
    assert "hunter2" in why.detail
    left = why.without_screen()
    assert (left.reason, left.detail) == (
        "not_usable",
        "what the step was done to cannot be used now",
    )
