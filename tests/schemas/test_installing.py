"""What is said where an extra is missing can be done."""

import sys
from pathlib import Path

import pytest

from schemas import installing
from schemas.installing import how_to_install

PROJECT = Path(__file__).parents[2]


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
