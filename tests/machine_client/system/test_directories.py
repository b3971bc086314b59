"""Where a machine client keeps what is its own."""

import sys
from pathlib import Path

import pytest

from machine_client.system.directories import state_directory


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has another place")
def test_linux_has_it_in_the_home() -> None:
    assert state_directory() == Path.home() / ".local" / "state" / "farhand-machine"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has another place")
def test_user_without_a_home_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError  # as where there is neither HOME nor an entry in passwd

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(OSError, match="no home directory"):
        state_directory()


@pytest.mark.skipif(sys.platform != "win32", reason="it is asked of Windows")
@pytest.mark.parametrize("home", ["C:\\users\\Jörg Müller", None])
def test_windows_has_it_in_the_local_application_data(
    monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    if home is None:
        monkeypatch.delenv("LOCALAPPDATA", raising=False)
        assert state_directory().parts[-2:] == ("Farhand", "machine")
        assert state_directory().is_absolute()
    else:
        monkeypatch.setenv("LOCALAPPDATA", home)
        assert state_directory() == Path(home) / "Farhand" / "machine"
