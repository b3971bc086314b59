"""What several tests of inputs need beside the server's fixtures."""

import pytest

from tests.commands import answer_within


@pytest.fixture
def no_waiting_for_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sent is soon waited for no more; before that, an input has its usual time.

    With a short ``input_timeout`` a busy machine would not even come to send it.
    """
    answer_within(monkeypatch, 0.2)
