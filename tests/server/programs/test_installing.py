"""What the program finds out about its own environment."""

import importlib.util
import sys
from pathlib import Path

import pytest

from server.programs import installing
from server.programs.installing import how_to_install

PROJECT = Path(__file__).parents[3]
EVDEV = importlib.util.find_spec("sys")


def test_checkout_is_found() -> None:
    pip = f"{sys.executable} -m pip install"
    assert how_to_install("server") == f"{pip} {PROJECT}/client '{PROJECT}[server]'"


def test_wheel_has_no_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        installing, "__file__", str(tmp_path / "server" / "process" / "installing.py")
    )
    assert "'PATH[machine]'" in how_to_install("machine")


@pytest.mark.parametrize("has_evdev", [True, False])
def test_debians_python_can_use_debians_evdev(
    monkeypatch: pytest.MonkeyPatch, has_evdev: bool
) -> None:
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    monkeypatch.setattr(sys, "prefix", "/home/me/env")
    spec = {"evdev": EVDEV if has_evdev else None}
    monkeypatch.setattr(importlib.util, "find_spec", spec.__getitem__)
    assert how_to_install("machine").startswith("sudo apt-get") is not has_evdev
