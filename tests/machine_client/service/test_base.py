"""What a program of the system says is told, and that it is not there as well."""

import sys

import pytest

from machine_client.service import base
from machine_client.service.base import ServiceError, checked, run_program


def test_what_a_program_says_is_told_whether_it_succeeds_or_not() -> None:
    python = (sys.executable, "-c")
    assert checked(run_program, [*python, "print('fine')"]).strip() == "fine"
    with pytest.raises(ServiceError, match="because of that"):
        checked(run_program, [*python, "import sys; sys.exit('because of that')"])
    with pytest.raises(ServiceError, match="it ended with 7"):
        checked(run_program, [*python, "raise SystemExit(7)"])


def test_program_that_is_not_there_or_hangs_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ServiceError, match="nowhere-to-be-found is not there"):
        run_program(["nowhere-to-be-found"])
    monkeypatch.setattr(base, "_SECONDS", 0.2)
    with pytest.raises(ServiceError, match=r"did not answer for 0\.2 s"):
        run_program([sys.executable, "-c", "import threading; threading.Event().wait()"])
