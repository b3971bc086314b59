"""Which keys type characters."""

import pytest

from server.dispatch.recording.keys import Pressed, Typed, pastes, strokes, types_something


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("enter", [Pressed("enter")]),
        ("ctrl+a ctrl+c", [Pressed("ctrl+a ctrl+c")]),
        ("h i enter", [Typed("hi"), Pressed("enter")]),
        ("A space plus +", [Typed("A ++")]),
        ("shift+a altgr+q tab x", [Typed("aq"), Pressed("tab"), Typed("x")]),
        ("kp_4 kp_7 kp_decimal kp_enter", [Typed("47."), Pressed("kp_enter")]),
        ("alt+kp_6 alt+kp_5", [Typed("65")]),
        ("alt+f4 alt+x super", [Pressed("alt+f4 alt+x super")]),
    ],
)
def test_combination_is_what_it_types_and_what_is_between(
    text: str, parts: list[Typed | Pressed]
) -> None:
    assert [*strokes(text)] == parts
    assert types_something(text) == any(isinstance(part, Typed) for part in parts)


@pytest.mark.parametrize(
    "text", ["ctrl+v", "a ctrl+shift+V", "cmd+v", "shift+insert", "altgr+ctrl+v"]
)
def test_what_pastes(text: str) -> None:
    assert pastes(text)


@pytest.mark.parametrize(
    "text", ["v", "shift+V", "altgr+v", "ctrl+c", "ctrl+insert", "insert", "ctrl"]
)
def test_what_does_not_paste(text: str) -> None:
    assert not pastes(text)
