from datetime import UTC, datetime

import pytest

from server.errors import VersionMismatch
from server.store.versions import check_version, first_version


def test_first_version_is_the_millisecond_of_its_making() -> None:
    assert first_version(datetime(1970, 1, 1, 0, 0, 1, 2000, tzinfo=UTC)) == 1002


def test_version_must_be_one_of_those_wanted() -> None:
    check_version({"version": 3}, None)
    check_version({"version": 3}, {2, 3})
    for wanted in ({2}, set[int]()):
        with pytest.raises(VersionMismatch):
            check_version({"version": 3}, wanted)
