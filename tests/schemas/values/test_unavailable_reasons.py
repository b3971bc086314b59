from typing import get_args

from schemas.http.problems import MACHINE_UNAVAILABLE
from schemas.values.unavailable_reasons import UnavailableReason


def test_every_reason_has_its_meaning() -> None:
    assert set(MACHINE_UNAVAILABLE.reasons) == set(get_args(UnavailableReason))
    assert all(meaning.endswith(".") for meaning in MACHINE_UNAVAILABLE.reasons.values())
