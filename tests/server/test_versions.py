"""Versions of machine clients beside the server's own."""

import pytest

from server import versions


@pytest.mark.parametrize(
    ("theirs", "ours", "is_older"),
    [
        ("0.9.0", "0.10.0", True),
        ("0.10", "0.10.0", False),
        ("0.10.0rc1", "0.10.0", True),
        ("0.10.0.dev3", "0.10.0", True),
        ("0.10.0+local", "0.10.0", False),
        ("0.10.0.post1", "0.10.0", False),
        ("1.0.0", "0.10.0", False),
        ("unknown", "0.10.0", False),
        ("", "0.10.0", False),
        (None, "0.10.0", False),
        ("1" * 60, "0.10.0", False),
    ],
)
def test_older_versions_are_told(
    theirs: str | None, ours: str, is_older: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "VERSION", ours)
    versions.is_outdated.cache_clear()
    assert versions.is_outdated(theirs) is is_older
    versions.is_outdated.cache_clear()
