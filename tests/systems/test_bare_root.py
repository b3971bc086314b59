"""Where no bare system can be made, that is said before anything is."""

import os
import shutil
from pathlib import Path

import pytest

from tests.systems import bare_root as module
from tests.systems.bare_root import BareRoot, NoBareRootError, bare_root


@pytest.mark.parametrize(
    ("user", "debootstrap", "remedy"),
    [
        (1000, "/usr/sbin/debootstrap", "run make test-systems as root"),
        (0, None, "sudo apt-get install debootstrap"),
    ],
)
def test_what_is_missing_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    user: int,
    debootstrap: str | None,
    remedy: str,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(shutil, "which", lambda _name: debootstrap)
    log = tmp_path / "log"
    with pytest.raises(NoBareRootError, match=remedy), bare_root("trixie", "http://x", log):
        pass
    assert not log.exists()


def test_suite_that_debootstrap_does_not_know_is_made_as_the_newest_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trixie").touch()
    monkeypatch.setattr(module, "SCRIPTS", tmp_path)
    assert [module._script(suite) for suite in ("trixie", "forky")] == ["trixie", "sid"]


def test_command_ends_well_or_not_or_not_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Here, without a root of its own.
    monkeypatch.setattr(module, "_INTO_IT", ("sh", "-ec", 'shift; exec "$@"', "sh"))
    monkeypatch.setattr(module, "CLONE", str(tmp_path))
    root = BareRoot(tmp_path, tmp_path / "log")
    assert root.succeeds("echo well", 60)
    assert not root.succeeds("false", 60)
    assert not root.succeeds("exec sleep 60", 0.1)
    assert (tmp_path / "log").read_text() == "well\n\nexec sleep 60 did not end within 0.1 s\n"
