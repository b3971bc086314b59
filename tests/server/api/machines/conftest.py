"""What several tests of inputs need beside the server's fixtures."""

import pytest

from server.dispatch.ledger import ledger, under_way


@pytest.fixture
def no_waiting_for_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sent is soon waited for no more; before that, an input has its usual time.

    With a short ``input_timeout`` a busy machine would not even come to send it.
    """
    for module in (ledger, under_way):
        monkeypatch.setattr(module, "seconds_until", lambda _: 0.2)
