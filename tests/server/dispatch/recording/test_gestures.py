"""What a hand's events come to."""

import pytest

from schemas.inputs.bodies import ClickMouse
from server.dispatch.recording.gestures import DOUBLE_CLICK, HELD, REPEATED, REST, Gestures
from tests.server.dispatch.recording.hands import ScriptedHand


@pytest.fixture
def hand() -> ScriptedHand:
    return ScriptedHand()


def test_press_and_release_are_a_click_and_moves_before_it_go(hand: ScriptedHand) -> None:
    hand.moves((1, 1), (5, 5))
    hand.clicks(5, 5)
    assert hand.steps == [("mouse.click", {"x": 5, "y": 5}, None)]


@pytest.mark.parametrize(("times", "steps"), [(2, [2]), (3, [3]), (4, [3, 1])])
def test_quick_clicks_are_double_and_triple_clicks(
    hand: ScriptedHand, times: int, steps: list[int]
) -> None:
    for _ in range(times):
        hand.clicks(5, 5)
    assert [body.get("clicks", 1) for _, body, _ in hand.steps] == steps


def test_slow_clicks_and_clicks_elsewhere_are_clicks_each(hand: ScriptedHand) -> None:
    hand.clicks(5, 5)
    # Programs count from press to press, however long a button is down.
    hand.clicks(5, 5, after=DOUBLE_CLICK - 19)
    hand.clicks(50, 50)
    assert [body for _, body, _ in hand.steps] == [
        {"x": 5, "y": 5},
        {"x": 5, "y": 5},
        {"x": 50, "y": 50},
    ]


def test_slow_clicks_that_follow_at_once_are_no_double_click_when_they_are_sent_again(
    hand: ScriptedHand,
) -> None:
    hand.presses(5, 5)
    hand.releases(5, 5, after=DOUBLE_CLICK - 10)
    hand.clicks(5, 5)
    hand.clicks(5, 5)
    assert [body.get("clicks", 1) for _, body, _ in hand.steps] == [1, 2]
    slow, quick = hand.closed
    assert quick.began - slow.pause_began >= DOUBLE_CLICK
    # From its second press.
    assert quick.ended - quick.pause_began == 20


def test_two_buttons_at_once_are_told_as_they_were(hand: ScriptedHand) -> None:
    hand.presses(5, 5)
    hand.presses(5, 5, "right")
    hand.releases(5, 5)
    hand.releases(5, 5, "right")
    assert [(body.get("button", "left"), body["down"]) for _, body, _ in hand.steps] == [
        ("left", True),
        ("right", True),
        ("left", False),
        ("right", False),
    ]


def test_wheel_runs_are_one_step_in_each_direction(hand: ScriptedHand) -> None:
    for _ in range(5):
        hand.turns("down", 2, 5, 5)
    hand.turns("up", 1, 5, 5)
    assert [(body["direction"], body["amount"]) for _, body, _ in hand.steps] == [
        ("down", 10),
        ("up", 1),
    ]


def test_keys_become_texts_and_combinations(hand: ScriptedHand) -> None:
    hand.strikes("h")
    hand.holds("shift")
    hand.strikes("I")
    hand.lets_go("shift")
    hand.strikes("x", "backspace", "!")
    hand.composes("é")
    hand.strikes("enter")
    hand.holds("ctrl")
    hand.strikes("a")
    hand.lets_go("ctrl")
    hand.strikes("tab", "tab", "super")
    assert hand.steps == [
        ("keyboard.type", {}, "hI!é"),
        ("keyboard.key", {"text": "enter"}, None),
        ("keyboard.key", {"text": "ctrl+a"}, None),
        ("keyboard.key", {"text": "tab tab"}, None),
        ("keyboard.key", {"text": "super"}, None),
    ]


def test_all_that_was_typed_is_taken_back_by_keys(hand: ScriptedHand) -> None:
    # The first character may have taken the place of what was selected.
    hand.strikes("a", "b", "backspace", "backspace", "c")
    assert hand.steps == [
        ("keyboard.type", {}, "a"),
        ("keyboard.key", {"text": "backspace"}, None),
        ("keyboard.type", {}, "c"),
    ]


def test_modifiers_alone_are_one_combination_and_may_come_up_at_once(hand: ScriptedHand) -> None:
    for key in ("ctrl", "alt"):
        hand.holds(key)
    hand.lets_go("alt")
    hand.lets_go("ctrl")
    hand.holds("shift")
    hand.holds("down")
    hand.lets_go("shift", "down")
    hand.strikes("x")
    assert [body.get("text") for _, body, _ in hand.steps] == ["ctrl+alt", "shift+down", None]


def test_what_is_said_to_be_secret_is_a_step_of_its_own(hand: ScriptedHand) -> None:
    for hand.is_said_secret in (False, True):
        for _ in range(2):
            hand.presses(5, 5, "middle")
            hand.releases(5, 5, "middle")
    assert [body["clicks"] for _, body, _ in hand.steps] == [2, 2]
    hand.rests(5000)
    for hand.is_said_secret in (False, True):
        hand.holds("ctrl")
        hand.strikes("v", "v")
        hand.lets_go("ctrl")
    assert [body.get("text") for _, body, _ in hand.steps][-2:] == ["ctrl+v ctrl+v"] * 2


def test_key_that_is_held_is_held_for_as_long(hand: ScriptedHand) -> None:
    hand.strikes("a", "b", "down", "down")
    hand.holds("down")
    hand.rests(1500)
    hand.lets_go("down")
    hand.strikes("c", "d")
    hand.holds("backspace")
    hand.lets_go("backspace", after=HELD)
    hand.holds("e")
    hand.lets_go("e", after=HELD)
    assert hand.steps == [
        ("keyboard.type", {}, "ab"),
        ("keyboard.key", {"text": "down down"}, None),
        ("keyboard.key", {"text": "down", "hold": 1.52}, None),
        ("keyboard.type", {}, "cd"),
        ("keyboard.key", {"text": "backspace", "hold": 0.5}, None),
        ("keyboard.type", {}, "e"),
        ("gap", {"reason": REPEATED}, None),
    ]


def test_key_that_types_is_held_as_well_where_texts_are_kept(hand: ScriptedHand) -> None:
    hand.gestures = Gestures(keep_texts=True)
    hand.strikes("a", "b")
    hand.holds("plus")
    hand.lets_go("plus", after=HELD)
    hand.strikes("c")
    assert hand.steps == [
        ("keyboard.type", {}, "ab"),
        ("keyboard.key", {"text": "plus", "hold": 0.5}, None),
        ("keyboard.type", {}, "c"),
    ]


def test_what_is_done_while_a_key_is_down_is_not_lost_when_it_goes_up(hand: ScriptedHand) -> None:
    hand.strikes("a", "b")
    hand.holds("backspace")
    hand.clicks(5, 5)
    hand.lets_go("backspace", after=HELD)
    hand.holds("left")
    hand.strikes("right")
    hand.lets_go("left", after=HELD)
    assert [step[1:] for step in hand.steps] == [
        ({}, "a"),
        ({"x": 5, "y": 5}, None),
        ({"text": "left"}, None),
        ({"text": "right"}, None),
    ]


def test_modifiers_are_held_for_what_is_done_with_them(hand: ScriptedHand) -> None:
    hand.holds("ctrl")
    hand.clicks(5, 5)
    hand.turns("up", 1, 5, 5)
    hand.lets_go("ctrl")
    hand.clicks(90, 90)
    assert [body.get("modifiers") for _, body, _ in hand.steps] == [["ctrl"], ["ctrl"], None]


def test_key_within_a_click_is_no_further_click(hand: ScriptedHand) -> None:
    hand.clicks(5, 5)
    hand.presses(5, 5)
    hand.strikes("a")
    hand.releases(5, 5)
    assert [operation for operation, _, _ in hand.steps] == [
        "mouse.click",
        "keyboard.type",
        "mouse.click",
    ]


def test_long_rest_is_told_and_a_short_one_is_not(hand: ScriptedHand) -> None:
    hand.moves((5, 5))
    hand.clicks(50, 50, after=REST + 100)
    hand.moves((7, 7))
    hand.clicks(60, 60, after=REST - 100)
    rests = [draft.hover for draft in hand.closed]
    assert [operation for operation, _, _ in hand.steps] == [
        "mouse.move",
        "mouse.click",
        "mouse.click",
    ]
    assert rests == [True, False]


def test_rest_where_something_is_then_pressed_or_turned_is_no_step(hand: ScriptedHand) -> None:
    hand.moves((50, 50))
    hand.clicks(51, 49, after=REST + 100)
    hand.moves((70, 70))
    hand.turns("down", 2, 70, 70, after=REST + 100)
    assert [operation for operation, _, _ in hand.steps] == ["mouse.click", "mouse.scroll"]
    hand.moves((5, 5))
    hand.does(ClickMouse(button="left", down=True), after=REST + 100)
    hand.does(ClickMouse(button="left", down=False))
    assert hand.steps[-1][:2] == ("mouse.click", {"x": 5, "y": 5})
    assert not any(draft.hover for draft in hand.closed)


def test_rest_before_a_key_is_told_however_short_but_not_in_a_text(hand: ScriptedHand) -> None:
    hand.clicks(5, 5)
    hand.moves((7, 40), after=REST)
    hand.holds("ctrl")
    hand.strikes("c")
    hand.lets_go("ctrl")
    hand.moves((9, 60))
    hand.strikes("a")
    hand.moves((9, 90))
    hand.strikes("b")
    hand.moves((5, 5))
    hand.holds("ctrl")
    hand.clicks(30, 30)
    hand.lets_go("ctrl")
    assert hand.steps == [
        ("mouse.click", {"x": 5, "y": 5}, None),
        ("mouse.move", {"x": 7, "y": 40}, None),
        ("keyboard.key", {"text": "ctrl+c"}, None),
        ("mouse.move", {"x": 9, "y": 60}, None),
        ("keyboard.type", {}, "ab"),
        ("mouse.click", {"x": 30, "y": 30, "modifiers": ["ctrl"]}, None),
    ]
    assert [draft.hover for draft in hand.closed] == [False, True, False, True, False, False]


def test_what_is_under_way_is_told_as_if_it_ended_now(hand: ScriptedHand) -> None:
    hand.strikes("a", "b")
    under_way = hand.gestures.open
    assert under_way is not None
    assert under_way.text == "ab"
    hand.strikes("c")
    assert under_way.text == "ab"
    hand.presses(5, 5)
    under_way = hand.gestures.open
    assert under_way is not None
    assert under_way.body == {"x": 5, "y": 5, "down": True}
    assert [text for _, _, text in hand.steps] == ["abc", None]


def test_text_ends_after_a_pause(hand: ScriptedHand) -> None:
    hand.strikes("a")
    hand.rests(2500)
    assert [draft.text for draft in hand.closed] == ["a"]
    hand.strikes("b")
    assert [text for _, _, text in hand.steps] == ["a", "b"]
