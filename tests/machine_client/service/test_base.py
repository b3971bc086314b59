"""What a program of the system says is told, and that it is not there as well."""

import sys
from pathlib import Path

import pytest

from machine_client.service.base import ServiceError, ServiceState, checked, run_program


def test_what_a_program_says_is_told_whether_it_succeeds_or_not() -> None:
    python = (sys.executable, "-c")
    assert checked(run_program, [*python, "print('fine')"]).strip() == "fine"
    with pytest.raises(ServiceError, match="because of that"):
        checked(run_program, [*python, "import sys; sys.exit('because of that')"])
    with pytest.raises(ServiceError, match="it ended with 7"):
        checked(run_program, [*python, "raise SystemExit(7)"])


def test_program_that_is_not_there_or_hangs_is_told(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="nowhere-to-be-found is not there"):
        run_program(["nowhere-to-be-found"])
    with pytest.raises(ServiceError, match="cannot be run"):
        run_program([str(tmp_path)])
    with pytest.raises(ServiceError, match=r"did not answer for 0\.2 s"):
        run_program([sys.executable, "-c", "import threading; threading.Event().wait()"], 0.2)


def test_state_is_a_sentence() -> None:
    state = ServiceState("the unit", False, "with its user's rights", "it ended with 3", "the log")
    assert str(state) == (
        "the unit is installed, with its user's rights, and does not run (it ended with 3); "
        "its log: the log"
    )
