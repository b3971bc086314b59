"""What is handed over to a worker, and what it says."""

import os
from pathlib import Path

import pytest

from server.settings import ServerSettings
from server.workers.place import PlaceError, WorkerPlace, WorkerReport


def place(**settings: object) -> WorkerPlace:
    return WorkerPlace(
        group="g1", settings=ServerSettings.model_validate(settings), sockets=(3, 4), reports=5
    )


def test_place_comes_over_with_every_setting(tmp_path: Path) -> None:
    given = place(
        data_dir=tmp_path,
        mongodb_uri="mongodb://user:secret@host/",
        nats_url="nats://user:secret@host:4222",
        node_name="host-2",
        trusted_proxies="10.0.0.0/8, ::1",
        stop_timeout=1.5,
    )
    assert WorkerPlace.from_bytes(given.to_bytes()) == given


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"group": "g1"}', '{"settings": {"mongodb_uri": "secret", "port": "secret"}}'],
)
def test_what_is_no_place_is_said_without_repeating_it(text: str) -> None:
    with pytest.raises(PlaceError, match="only farhand serve --workers starts this") as refused:
        WorkerPlace.from_bytes(text.encode())
    assert "secret" not in str(refused.value)


def test_report_is_a_line_on_the_pipe() -> None:
    readable, writable = os.pipe()
    own = place().model_copy(update={"reports": writable})
    own.report()
    own.report("two\nlines")
    os.close(writable)
    with os.fdopen(readable, "rb") as pipe:
        reports = [WorkerReport.model_validate_json(line) for line in pipe]
    assert [each.error for each in reports] == [None, "two\nlines"]


def test_parent_that_has_gone_is_no_failure() -> None:
    readable, writable = os.pipe()
    os.close(readable)
    place().model_copy(update={"reports": writable}).report()
    os.close(writable)
