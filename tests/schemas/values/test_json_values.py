import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.values.json_values import LONG_NUMBER_VALUES, ValueCounter, count_values

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30
)


def values_in(value: Any) -> int:
    """What a parser would make of it."""
    if isinstance(value, dict):
        return 1 + sum(map(values_in, value.values()))
    if isinstance(value, list):
        return 1 + sum(map(values_in, value))
    return 1


@given(JSON, st.sampled_from([None, 1]), st.booleans())
def test_count_is_what_a_parser_finds(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
    assert count_values(text) == values_in(value)


@given(JSON, st.randoms(use_true_random=False))
def test_count_does_not_depend_on_where_the_text_is_cut(value: Any, chance: random.Random) -> None:
    text = json.dumps(value).encode()
    counter, start = ValueCounter(), 0
    while start < len(text):
        end = start + chance.randint(1, 4)
        counter.add(text[start:end])
        start = end
    assert counter.values == values_in(value)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (b"1", 1),
        (b"[]", 1),
        (b"[ ]", 1),
        (b"{\n}", 1),
        (b'[""]', 2),
        (b"[[],{}]", 3),
        (b'{"[{,":",[{"}', 2),
        (rb'["\"",",\\"]', 3),
        (rb'["\\\",[", 1]', 3),
    ],
)
def test_texts_hide_what_looks_like_values(text: bytes, values: int) -> None:
    assert count_values(text) == values


def test_long_number_counts_for_more_than_one() -> None:
    assert count_values(b"[" + b"1" * 255 + b"]") == 2
    assert count_values(b"[" + b"1" * 4096 + b"]") == 2 + 16 * LONG_NUMBER_VALUES
    assert count_values(b'["' + b"1" * 4096 + b'"]') == 2


@pytest.mark.parametrize("tail", [b"]", b'"', b"\\", b"x", b"\xff\x00"])
def test_what_stands_before_a_mistake_is_counted(tail: bytes) -> None:
    assert count_values(b"[" + b"1," * 1000 + tail) >= 1001
