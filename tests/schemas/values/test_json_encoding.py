"""JSON text of what was decoded, also of long texts."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.values import json_encoding
from schemas.values.json_encoding import encode_json, encode_long_json

MEBIBYTE = 1024 * 1024
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # Texts on both sides of the border between short and long.
    | st.text(st.characters(codec="utf-8"), max_size=9),
    lambda inside: st.lists(inside) | st.dictionaries(st.text('aü"', max_size=9), inside),
)


@given(JSON)
def test_long_texts_are_written_as_short_ones_are(value: Any) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_encoding, "PIECE_CHARACTERS", 3)
        assert encode_long_json(value) == encode_json(value)


@pytest.mark.parametrize("encode", [encode_json, encode_long_json])
def test_text_is_compact_utf_8(encode: Any) -> None:
    assert encode({"a": [1, "é"]}) == '{"a":[1,"é"]}'.encode()


@pytest.mark.parametrize("long", ["", "x" * 100_000])
@pytest.mark.parametrize("encode", [encode_json, encode_long_json])
def test_what_json_cannot_say_is_refused_also_from_python(encode: Any, long: str) -> None:
    deep: dict[str, Any] = {"a": long}
    for _ in range(100_000):
        deep = {"a": deep}
    for value in ({"a": "\ud800" + long}, {"a": float("nan"), "b": long}, {"\ud800": long}, deep):
        with pytest.raises(ValueError, match="must"):
            encode(value)


@pytest.mark.parametrize("first", ["x", "\N{SLIGHTLY SMILING FACE}"])
@pytest.mark.parametrize("is_key", [True, False])
def test_long_text_is_held_once_more_while_it_is_written(first: str, is_key: bool) -> None:
    text = first + "x" * 8 * MEBIBYTE
    value = [{text: 1} if is_key else {"a": text}]
    tracemalloc.start()
    try:
        written = encode_long_json(value)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert json.loads(written) == value
    # The text itself, and what its buffer grows by.
    assert peak < 1.5 * len(written)
