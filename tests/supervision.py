"""What either side's supervised task does when it fails."""

import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from schemas.programs import pauses

Supervise = Callable[[Callable[[], Coroutine[Any, Any, None]], str], Awaitable[None]]


async def begins_again_after_pauses_that_grow(
    supervise: Supervise, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pauses, "FIRST_SECONDS", 0.001)
    monkeypatch.setattr(pauses, "LONGEST_SECONDS", 0.003)
    assert await _attempts(supervise, caplog, failures=4) == 5
    said = ("0.001", "0.002", "0.003", "0.003")
    assert [record.getMessage() for record in caplog.records] == [
        f"task some work failed and begins again in {pause} s" for pause in said
    ]
    assert "the reason" in caplog.text


async def begins_again_soon_where_it_ran_long(
    supervise: Supervise, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pauses, "FIRST_SECONDS", 0.001)
    monkeypatch.setattr(pauses, "STEADY_SECONDS", 1e-9)
    await _attempts(supervise, caplog, failures=2)
    assert {record.getMessage() for record in caplog.records} == {
        "task some work failed and begins again in 0.001 s"
    }


async def _attempts(supervise: Supervise, caplog: pytest.LogCaptureFixture, failures: int) -> int:
    began = 0

    async def fail_at_first() -> None:
        nonlocal began
        began += 1
        if began <= failures:
            raise ValueError("the reason")

    with caplog.at_level(logging.ERROR):
        await supervise(fail_at_first, "some work")
    return began
