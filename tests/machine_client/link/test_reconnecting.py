"""When a machine client tries again, when it yields, and how much of it is in the log."""

import logging
import statistics
from itertools import islice

import pytest

from machine_client.link import reconnecting
from machine_client.link.failures import MustStopError
from machine_client.link.reconnecting import (
    ClosedLink,
    ReconnectPolicy,
    TroubleLog,
    reconnect_delays,
)
from schemas.link.close_codes import CloseCode
from tests.clock import Clock


def closed(
    code: int = 1006,
    *,
    by_server: bool = True,
    welcomed: bool = True,
    spread: float = 0.0,
    seconds: float = 3600,
) -> ClosedLink:
    return ClosedLink(code, "a reason", by_server, spread if welcomed else None, seconds)


def client(longest_delay: float = 15) -> ReconnectPolicy:
    return ReconnectPolicy(longest_delay, Clock())


@pytest.mark.parametrize("code", [4500, 4501, 4777, 4999])
def test_server_that_says_stop_is_obeyed(code: int) -> None:
    with pytest.raises(MustStopError, match=rf"closed for good \({code}\): a reason"):
        client().after_link(closed(code))


def test_client_that_was_sent_to_another_node_goes_there_at_once() -> None:
    one = client()
    moved = [one.after_link(closed(CloseCode.MOVED, spread=100)) for _ in range(100)]
    assert max(moved) <= reconnecting.MOVED_SECONDS
    lost = [one.after_link(closed(CloseCode.SERVER_STOPPING, spread=100)) for _ in range(100)]
    assert max(lost) > reconnecting.MOVED_SECONDS
    # Sent about again and again, it waits as after any link that does not last.
    soon = [one.after_link(closed(CloseCode.MOVED, spread=100, seconds=0.5)) for _ in range(20)]
    assert max(soon) > 5


def test_code_of_this_client_itself_is_no_verdict() -> None:
    assert client().after_link(closed(CloseCode.MESSAGE_INVALID, by_server=False)) >= 0


def test_client_that_was_taken_over_yields_until_it_is_welcomed() -> None:
    one = client()
    assert not one.yields
    one.after_link(closed(CloseCode.TAKEN_OVER))
    assert one.yields
    one.after_failure("weather")
    one.after_link(closed(CloseCode.TAKEN_OVER, welcomed=False))
    one.after_link(closed(CloseCode.SERVER_STOPPING, welcomed=False))
    assert one.yields
    one.after_link(closed(CloseCode.SERVER_STOPPING, welcomed=True))
    assert not one.yields


def test_own_close_code_does_not_make_a_client_yield() -> None:
    one = client()
    one.after_link(closed(CloseCode.TAKEN_OVER, by_server=False))
    assert not one.yields


def test_yielding_client_waits_longer_and_longer_up_to_a_bound() -> None:
    runs = []
    for _ in range(100):
        one = client(15)
        first = one.after_link(closed(CloseCode.TAKEN_OVER))
        again = (
            one.after_link(closed(CloseCode.TAKEN_OVER, welcomed=False, seconds=0.1))
            for _ in range(9)
        )
        runs.append([first, *again])
    for position, delays in enumerate(zip(*runs, strict=True)):
        longest = min(2.0**position, 60.0)
        assert all(longest / 10 <= delay <= longest for delay in delays)
        assert statistics.pstdev(delays) > longest / 10


def test_client_that_had_its_link_again_begins_with_a_short_wait() -> None:
    one = client()
    for _ in range(9):
        one.after_link(closed(CloseCode.TAKEN_OVER, welcomed=False, seconds=0.1))
    assert one.after_link(closed(CloseCode.TAKEN_OVER, welcomed=True)) <= 1


def test_lost_links_come_back_evenly_over_the_time_that_the_server_said() -> None:
    delays = sorted(client().after_link(closed(spread=50)) for _ in range(2000))
    assert 0 <= delays[0] < 1
    assert 49 < delays[-1] <= 50
    for tenth in range(10):
        within = sum(5 * tenth <= delay < 5 * (tenth + 1) for delay in delays)
        assert 120 < within < 280


def test_without_a_word_from_the_server_the_first_try_is_within_a_second() -> None:
    assert all(0 < client().after_link(closed(welcomed=False)) <= 1 for _ in range(100))


def test_links_that_end_at_once_are_tried_ever_more_slowly() -> None:
    one = client(15)
    delays = [one.after_link(closed(spread=1, seconds=0.1)) for _ in range(10)]
    assert max(delays[5:]) > 1.5
    assert max(delays) <= 16
    assert one.after_link(closed(spread=1)) <= 1
    # One that lasted lets the delays begin anew.
    assert one.after_link(closed(seconds=0.1)) <= 1


def test_server_that_lets_clients_wait_in_vain_is_tried_ever_more_slowly(
    said: pytest.LogCaptureFixture,
) -> None:
    one = client()
    unwelcome = closed(CloseCode.SERVER_ERROR, welcomed=False, seconds=10)
    delays = [one.after_link(unwelcome) for _ in range(100)]
    assert statistics.mean(delays[-50:]) > 5 * reconnecting.FIRST_DELAY
    assert len(said.records) == 1


def test_delays_grow_with_jitter_up_to_a_bound() -> None:
    runs = [list(islice(reconnect_delays(60.0), 12)) for _ in range(200)]
    for position, delays in enumerate(zip(*runs, strict=True)):
        longest = min(2.0**position, 60.0)
        assert all(longest / 10 <= delay <= longest for delay in delays)
        assert statistics.pstdev(delays) > longest / 10


def test_no_delay_is_longer_than_the_longest_even_at_first() -> None:
    delays = [delay for _ in range(100) for delay in islice(reconnect_delays(0.25), 5)]
    assert 0.2 < max(delays) <= 0.25


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING)
    return caplog


def test_same_trouble_is_said_at_growing_intervals(said: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    log = TroubleLog(clock)
    times = []
    for second in range(0, 7 * 24 * 3600, 10):
        clock.now = second
        before = len(said.records)
        log.tell("cannot connect", 10)
        if len(said.records) > before:
            times.append(second)
    assert times[:5] == [0, 60, 180, 420, 900]
    assert times[-1] - times[-2] == 3600
    assert len(times) < 200
    messages = [record.getMessage() for record in said.records]
    assert messages[:2] == [
        "cannot connect; trying again in 10.0 s",
        "cannot connect; trying again in 10.0 s (5 more tries since the last line)",
    ]


def test_another_trouble_is_said_at_once_but_not_without_end(
    said: pytest.LogCaptureFixture,
) -> None:
    log = TroubleLog(Clock())
    for number in range(1000):
        log.tell(f"trouble {number}", 1)
        log.tell("trouble 0", 1)
    assert len(said.records) == reconnecting.MAX_SENTENCES
    assert "trouble 1;" in said.text


def test_after_a_link_that_lasted_the_same_trouble_is_new(said: pytest.LogCaptureFixture) -> None:
    one = client()
    for _ in range(3):
        one.after_failure("cannot connect")
    assert said.text.count("cannot connect") == 1
    one.after_link(closed(seconds=3600))
    one.after_failure("cannot connect")
    assert said.text.count("cannot connect") == 2


def test_client_that_waits_says_why(said: pytest.LogCaptureFixture) -> None:
    one = client()
    for _ in range(50):
        one.after_link(closed(CloseCode.TAKEN_OVER))
    (line,) = [record.getMessage() for record in said.records]
    assert "another machine client with this token has the link" in line
    assert "(4006: a reason)" in line
