import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.cli.transfer import long_lines
from server.cli.transfer.long_lines import STEPS, LineError, scanned

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)


def read(text: bytes, longest: int = 1000) -> tuple[dict[str, Any], list[Any]]:
    """The members and the steps of a text."""
    members, steps = {}, []
    for name, value in scanned(io.BytesIO(text), longest):
        if name is None:
            steps.append(json.loads(value))
        else:
            members[name] = json.loads(value)
    return members, steps


@given(
    members=OBJECTS.filter(lambda members: STEPS not in members),
    steps=st.lists(OBJECTS, max_size=4),
    chunk=st.integers(1, 40),
    indent=st.sampled_from([None, 1]),
    ascii_only=st.booleans(),
    place=st.integers(0, 4),
)
def test_any_object_is_read_as_json_reads_it_however_it_comes(
    members: dict[str, Any],
    steps: list[Any],
    chunk: int,
    indent: int | None,
    ascii_only: bool,
    place: int,
) -> None:
    pairs = list(members.items())
    whole = dict([*pairs[:place], (STEPS, steps), *pairs[place:]])
    text = json.dumps(whole, indent=indent, ensure_ascii=ascii_only).encode(errors="replace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_lines, "_CHUNK_BYTES", chunk)
        found = read(text + b"\n", 100_000)
    expected = json.loads(text)
    assert found == ({name: expected[name] for name in members}, expected[STEPS])


@pytest.mark.parametrize("value", ["null", "{}", '"text"', "7"])
def test_steps_that_are_no_array_are_a_member(value: str) -> None:
    members, steps = read(f'{{"{STEPS}": {value}}}'.encode())
    assert (members, steps) == ({STEPS: json.loads(value)}, [])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON: { is missing before the end"),
        ("[]", "{ is missing before ["),
        ("{", "a name has no value"),
        ('{"a"}', ": is missing"),
        ('{"a":', "a has no value"),
        ('{"a":1', "} is missing"),
        ('{"a":1,}', "a name has no value"),
        ("{1:1}", "a member has no name"),
        ('{"a":"x', "a does not end"),
        ('{"a":"x\\', "a does not end"),
        ('{"a":[{"x":1}', "a does not end"),
        ('{"a":1} {}', "more than one JSON object"),
        ('{"a":1,"a":2}', "a is there twice"),
        ('{"a":1,"\\u0061":2}', "a is there twice"),
        ('{"trajectory_data":[{}', "] is missing"),
        ('{"trajectory_data":[{},]}', "step 2 has no value"),
        ('{"trajectory_data":[{} {}]}', "] is missing"),
        ('{"trajectory_data":[{}],"trajectory_data":[]}', "twice"),
    ],
)
def test_what_is_no_object_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(LineError) as caught:
        read(text.encode())
    assert words in str(caught.value)


def test_value_that_is_too_long_is_refused_before_all_of_it_is_read() -> None:
    class Endless(io.RawIOBase):
        begun = False

        def read(self, size: int = -1) -> bytes:
            beginning = b"" if self.begun else b'{"a":1,"trajectory_data":[{},{"text":"'
            self.begun = True
            return beginning + b"x" * size

    with pytest.raises(LineError, match="step 2 is longer than 1000000 bytes"):
        list(scanned(Endless(), 1_000_000))  # type: ignore[arg-type]
