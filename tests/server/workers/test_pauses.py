"""How long to rest before the next start."""

from server.workers.pauses import LONGEST_SECONDS, STEADY_SECONDS, Pauses


def test_what_ends_at_once_rests_longer_each_time() -> None:
    pauses = Pauses()
    found = [pauses.after(0.1) for _ in range(7)]
    assert found == [0.2, 0.4, 0.8, 1.6, 3.2, LONGEST_SECONDS, LONGEST_SECONDS]


def test_what_has_lived_for_long_begins_with_the_first_pause() -> None:
    pauses = Pauses()
    assert [pauses.after(lived) for lived in (0, 0, STEADY_SECONDS, 0)] == [0.2, 0.4, 0.2, 0.4]
