"""Trying again: as often as is worthwhile, and no other error than that of a silent database."""

import pytest

from server.errors import StoreError, StoreUnavailable
from server.store import retrying
from server.store.retrying import always, retry


class Operation:
    """Fails so many times before it returns how often it was tried."""

    def __init__(self, failures: int, error: Exception | None = None) -> None:
        self._failures = failures
        self._error = error or StoreUnavailable("The database did not answer in time.")
        self.tries = 0

    async def __call__(self) -> int:
        self.tries += 1
        if self.tries <= self._failures:
            raise self._error
        return self.tries


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "FIRST_DELAY", 0.001)
    monkeypatch.setattr(retrying, "LONGEST_DELAY", 0.002)


async def test_operation_is_tried_until_the_database_answers() -> None:
    assert await retry(Operation(5), is_worthwhile=always) == 6


async def test_operation_that_is_no_longer_worthwhile_ends_with_its_last_error() -> None:
    operation = Operation(100)
    with pytest.raises(StoreUnavailable):
        await retry(operation, is_worthwhile=lambda: operation.tries < 3)
    assert operation.tries == 3


async def test_refusal_of_the_database_is_not_tried_again() -> None:
    operation = Operation(100, StoreError("The database refused."))
    with pytest.raises(StoreError, match="refused"):
        await retry(operation, is_worthwhile=always)
    assert operation.tries == 1
