import pytest

from server.machines import log_rate_limit
from server.machines.log_rate_limit import LogRateLimit


def test_lines_beyond_the_bound_are_counted_and_told_with_the_next() -> None:
    now = 0.0
    lines = LogRateLimit(2, 60.0, lambda: now)
    assert [lines.count("a") for _ in range(4)] == [(True, 0), (True, 0), (False, 0), (False, 0)]
    assert lines.count("b") == (True, 0)
    now = 60.0
    assert lines.count("a") == (True, 2)
    assert lines.count("a") == (True, 0)


def test_no_more_is_remembered_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_rate_limit, "MAX_REMEMBERED", 3)
    lines = LogRateLimit(1, 60.0, lambda: 0.0)
    for key in range(10):
        lines.count(key)
    assert len(lines._windows) == 3
