"""What every test of the bus has."""

import pytest

from server.bus import nats_link


@pytest.fixture(autouse=True)
def nats_that_may_be_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """NATS is not away because a busy machine has it rest for some seconds."""
    monkeypatch.setattr(nats_link, "MAX_PINGS", 60)
