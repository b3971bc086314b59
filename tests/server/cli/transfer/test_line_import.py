"""What a line and what is there have in common; the way over HTTP is in test_importing."""

import io
import json
from typing import Any

import pytest

from server.cli.transfer import line_import
from server.cli.transfer.line_import import _batches, _compared, _read_long
from server.cli.transfer.long_lines import LineError
from tests.trajectories import sent

STEPS = [{"n": number} for number in range(4)]


def text(**fields: Any) -> io.BytesIO:
    return io.BytesIO(json.dumps(sent(trajectory_data=STEPS, **fields)).encode())


def there(**fields: Any) -> io.BytesIO:
    body = sent(trajectory_data=STEPS, is_generated=True, is_approved=False)
    return io.BytesIO(json.dumps({**body, "user_id": None, **fields}).encode())


def compared(line: io.BytesIO, standing: io.BytesIO) -> int | None:
    return _compared(line, _read_long(line), standing)


def test_all_of_it_is_there_with_whatever_the_line_does_not_say() -> None:
    assert compared(text(), there(created_at="2024-01-01", updated_at="2024-01-02")) is None
    pending = there(is_generated=False)
    assert compared(text(is_generated=False), pending) is None


@pytest.mark.parametrize("count", [0, 2, 4])
def test_beginning_of_it_is_there(count: int) -> None:
    begun = there(is_generated=False, trajectory_data=STEPS[:count])
    assert compared(text(is_approved=True), begun) == count


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "n"},
        {"trajectory_data": [*STEPS, {}], "is_generated": False},
        {"trajectory_data": [{"n": 0}, {"n": 1.0}], "is_generated": False},
        {"trajectory_data": STEPS[:2]},
        {"is_approved": True},
        {"dimensions": {"width": 1, "height": 1}},
        {"original_input_values": {"a": 1}},
    ],
)
def test_anything_else_is_another(fields: dict[str, Any]) -> None:
    with pytest.raises(LineError, match="another trajectory"):
        compared(text(), there(**fields))


def test_numbers_are_compared_as_the_server_writes_them() -> None:
    line = io.BytesIO(text().getvalue().replace(b'{"n": 3}', b'{"n":3e0 }'))
    standing = io.BytesIO(there().getvalue().replace(b'{"n": 3}', b'{"n":3.0}'))
    assert compared(line, standing) is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"trajectory_data":[1]}', "step 1 must be an object"),
        (b'{"trajectory_data":[{},{"a":NaN}]}', "step 2: must have numbers that are finite"),
        (b'{"trajectory_data":[{"a":tru}]}', "step 1: "),
        (b'{"trajectory_data":[' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"]}", "step 1: "),
        (b'{"trajectory_data":[{"a":"\\ud800"}]}', "without lone surrogates"),
        (b'{"trajectory_data":7,"workflow_id":"x"}', "trajectory_data"),
        (b'{"trajectory_data":[{}]}', "workflow_id"),
        (b'{"user_id":null,"trajectory_data":[{}]}', "user_id"),
    ],
)
def test_wrong_line_is_refused_before_anything_is_sent(line: bytes, words: str) -> None:
    with pytest.raises(LineError) as caught:
        _read_long(io.BytesIO(line))
    assert words in str(caught.value)


def test_batches_are_as_large_as_they_may_be_and_no_step_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(line_import, "BATCH_BYTES", 10)
    steps = [b"1234", b"1234", b"1", b"x" * 30, b"2", b"3"]
    assert list(_batches(steps)) == [steps[:2], steps[2:3], steps[3:4], steps[4:]]
    assert list(_batches([])) == []
