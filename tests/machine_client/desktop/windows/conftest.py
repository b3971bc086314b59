"""What needs a session of Windows runs there alone (``make test-windows``); the rest everywhere."""

import sys

import pytest

from tests.machine_client.desktop.windows.fakes import FakeSession

if sys.platform != "win32":
    collect_ignore = [
        *("test_contract.py", "test_clipboard.py", "test_input.py"),
        *("test_screens.py", "test_texts.py"),
    ]


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> FakeSession:
    """A session whose calls say what the test wants."""
    return FakeSession(monkeypatch)
