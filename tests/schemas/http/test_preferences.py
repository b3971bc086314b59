"""The Prefer header."""

import pytest

from schemas.http.preferences import return_preference


@pytest.mark.parametrize(
    ("prefer", "preference"),
    [
        (None, None),
        ("", None),
        ("return=minimal", "minimal"),
        ('RETURN = "Minimal" ; x=1, wait=3', "minimal"),
        ("wait=3,return=representation", "representation"),
        ("return", None),
    ],
)
def test_prefer_header_is_read_as_rfc_7240_says(prefer: str | None, preference: str | None) -> None:
    assert return_preference(prefer) == preference
