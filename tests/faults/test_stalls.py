"""What a database owes to its own standstills is told apart from what it did late."""

import pytest

from tests.faults.stalls import EVERY_SECONDS, stalled

WORKING = [(float(number) / 10, 0.05) for number in range(1, 101)]
"""A round each tenth of a second, for ten seconds."""


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        (WORKING, 0.0),
        # Several at once are waited for one after another.
        ([*WORKING, (10.5, 0.4), (11.0, 0.4)], 0.8),
        # Of what is longer ago nobody has to wait any more.
        ([(0.0, 3.0), *WORKING], 0.0),
        ([*WORKING, (15.0, 4.0), (15.1, 0.05)], 4.0),
        ([(99.0, 9.0)], 0.0),
    ],
)
def test_only_standstills_count_that_are_within_the_time(
    rounds: list[tuple[float, float]], expected: float
) -> None:
    assert stalled(rounds, 20.0, 1.0) == pytest.approx(expected)


def test_more_of_them_count_where_hardly_anything_was_done_between() -> None:
    slow = [(float(number), 1 - EVERY_SECONDS) for number in range(1, 21)]
    assert stalled(slow, 20.0, 9.5 * EVERY_SECONDS) == pytest.approx(10 * (1 - EVERY_SECONDS))
