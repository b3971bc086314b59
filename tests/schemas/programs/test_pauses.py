"""Pauses grow to a bound, and a steady run forgets them."""

from schemas.programs.pauses import FIRST_SECONDS, LONGEST_SECONDS, STEADY_SECONDS, Pauses


def test_pauses_are_doubled_up_to_a_bound() -> None:
    pauses = Pauses()
    assert [pauses.next() for _ in range(8)] == [0.5, 1, 2, 4, 8, 16, LONGEST_SECONDS, 30]


def test_what_ran_for_long_is_given_the_first_pause_again() -> None:
    pauses = Pauses()
    ran = (0, STEADY_SECONDS - 0.1, STEADY_SECONDS, 0)
    assert [pauses.after(seconds) for seconds in ran] == [FIRST_SECONDS, 1, FIRST_SECONDS, 1]
