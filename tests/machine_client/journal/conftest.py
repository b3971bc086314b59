"""Where a journal is."""

from pathlib import Path

import pytest


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.sqlite3"
