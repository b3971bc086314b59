"""What is said where an extra is missing can be done."""

import importlib.util
import sys
from pathlib import Path

import pytest

from schemas.programs import installing
from schemas.programs.installing import how_to_install

PROJECT = Path(__file__).parents[2]
DEPLOYMENT = (PROJECT / "docs" / "deployment.md").read_text()


def in_debians_environment(monkeypatch: pytest.MonkeyPatch, *, has_evdev: bool) -> None:
    """Be a program in an environment that was made with Debian's Python."""
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    monkeypatch.setattr(sys, "prefix", "/home/me/my env")
    monkeypatch.setattr(sys, "executable", "/home/me/my env/bin/python")
    spec = importlib.util.find_spec("sys") if has_evdev else None
    monkeypatch.setattr(importlib.util, "find_spec", {"evdev": spec}.__getitem__)


def test_from_a_checkout_the_command_names_it() -> None:
    assert how_to_install("server") == f"{sys.executable} -m pip install '{PROJECT}[server]'"


def test_from_a_wheel_the_command_says_what_to_put_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installing, "__file__", str(tmp_path / "schemas" / "installing.py"))
    said = how_to_install("machine")
    assert said.endswith(
        "pip install 'PATH[machine]', where PATH is Farhand's checkout or its wheel"
    )


def test_machine_gets_evdev_from_debian_as_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    in_debians_environment(monkeypatch, has_evdev=False)
    packages, environment, pip = how_to_install("machine").split(" && ")
    assert packages == "sudo apt-get install python3-venv python3-evdev"
    assert packages in DEPLOYMENT
    assert environment == "/usr/bin/python3 -m venv --system-site-packages '/home/me/my env'"
    assert "\npython3 -m venv --system-site-packages " in DEPLOYMENT
    assert pip == f"'/home/me/my env/bin/python' -m pip install '{PROJECT}[machine]'"


def test_machine_that_has_evdev_needs_pip_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    in_debians_environment(monkeypatch, has_evdev=True)
    assert how_to_install("machine").startswith("'/home/me/my env/bin/python' -m pip install ")


def test_only_the_machine_needs_evdev(monkeypatch: pytest.MonkeyPatch) -> None:
    in_debians_environment(monkeypatch, has_evdev=False)
    assert how_to_install("server").startswith("'/home/me/my env/bin/python' -m pip install ")
