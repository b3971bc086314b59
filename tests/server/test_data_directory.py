"""Where the data directory is by default."""

from pathlib import Path

import pytest

from server.data_directory import default_data_directory


def test_data_is_kept_at_the_home_of_who_runs_the_server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_data_directory() == tmp_path / ".local" / "share" / "farhand"
