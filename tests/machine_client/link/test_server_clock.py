"""What can be said of a clock that is only heard of through messages that may be late."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machine_client.link.server_clock import SAMPLES, ServerClock

MILLISECOND = 0.001
ROUNDING = 1e-3
"""Floating point at today's milliseconds since 1970, in seconds, with room."""

waits = st.floats(min_value=0, max_value=3600, allow_nan=False)
delays = st.floats(min_value=0, max_value=120, allow_nan=False)


@given(
    offset=st.integers(min_value=-(10**9), max_value=10**9),
    messages=st.lists(st.tuples(waits, delays), min_size=1, max_size=SAMPLES),
)
def test_estimate_is_never_ahead_and_behind_by_the_least_delay_at_most(
    offset: int, messages: list[tuple[float, float]]
) -> None:
    """``local`` must be late by no less than nothing and no more than the least delay."""
    server_zero = 1_700_000_000_000 + offset
    clock, now = ServerClock(), 1000.0
    for wait, delay in messages:
        now += wait
        sent_at = server_zero + int((now - delay) * 1000)
        clock.heard(sent_at, now)
    moment = server_zero + int(now * 1000)
    behind = clock.local(moment) - (moment - server_zero) / 1000
    least = min(delay for _, delay in messages)
    assert -ROUNDING <= behind <= least + MILLISECOND + ROUNDING


def test_one_prompt_message_corrects_many_late_ones() -> None:
    clock = ServerClock()
    for late in (5_000, 9_000, 0, 7_000):
        clock.heard(1_000_000 - late, 10.0)
    assert clock.local(1_000_000) == pytest.approx(10.0)


def test_server_time_is_the_inverse_of_local_time() -> None:
    clock = ServerClock()
    clock.heard(1_000_000, 10.0)
    clock.heard(1_004_000, 15.0)
    for moment in (999_000, 1_000_000, 1_234_567):
        assert clock.server(clock.local(moment)) == moment


def test_old_samples_are_forgotten() -> None:
    clock = ServerClock()
    clock.heard(1_000_000, 10.0)
    for _ in range(SAMPLES):
        clock.heard(900_000, 10.0)
    assert clock.local(900_000) == pytest.approx(10.0)
