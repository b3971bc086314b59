"""Scripts of events at the demo's window, and what becomes of them."""

from machine_client.demo.arrivals import REPEATED_CLICK_MS, Arrivals, Keys


def click(arrivals: Arrivals, x: int, y: int, time_ms: int, button: int = 1) -> str:
    assert arrivals.button_pressed(button, x, y, time_ms) == ""
    return arrivals.button_released(button, x, y)


def type_all(arrivals: Arrivals, text: str) -> None:
    for character in text:
        arrivals.key_pressed(character, is_character=True)


def test_press_travel_and_release_are_a_drag() -> None:
    arrivals = Arrivals()
    arrivals.button_pressed(3, 10, 20, 0)
    arrivals.pointer_moved(50, 60)
    assert list(arrivals.held) == ["right"]
    assert arrivals.button_released(3, 90, 20) == "drag right 10,20 to 90,20"
    assert [stroke.places for stroke in arrivals.strokes] == [[(10, 20), (50, 60), (90, 20)]]
    assert not arrivals.held
    assert not arrivals.marks
    assert arrivals.pointer == (50, 60)


def test_drag_that_returns_to_its_start_is_no_click() -> None:
    arrivals = Arrivals()
    arrivals.button_pressed(1, 10, 10, 0)
    arrivals.pointer_moved(100, 100)
    assert arrivals.button_released(1, 10, 10) == "drag left 10,10 to 10,10"


def test_clicks_soon_and_near_are_one_mark() -> None:
    arrivals = Arrivals()
    assert click(arrivals, 30, 30, 0) == "click left 30,30"
    click(arrivals, 30, 30, REPEATED_CLICK_MS)
    assert [(mark.clicks, mark.x) for mark in arrivals.marks] == [(2, 30)]
    assert arrivals.lines == ["click left 30,30 x2"]


def test_clicks_late_elsewhere_or_of_another_button_are_marks_of_their_own() -> None:
    arrivals = Arrivals()
    click(arrivals, 30, 30, 0)
    click(arrivals, 30, 30, REPEATED_CLICK_MS + 1)
    click(arrivals, 60, 30, REPEATED_CLICK_MS + 2)
    click(arrivals, 60, 30, REPEATED_CLICK_MS + 3, button=2)
    assert [mark.clicks for mark in arrivals.marks] == [1, 1, 1, 1]


def test_notches_are_counted_by_direction() -> None:
    arrivals = Arrivals()
    for button in (4, 5, 5, 6, 7):
        click_line = arrivals.button_pressed(button, 5, 5, 0)
        assert click_line.startswith("scroll ")
        assert arrivals.button_released(button, 5, 5) == ""
    assert dict(arrivals.notches) == {"up": 1, "down": 2, "left": 1, "right": 1}
    assert arrivals.lines == ["scroll up", "scroll down x2", "scroll left", "scroll right"]


def test_characters_are_one_run_and_chords_are_their_own() -> None:
    arrivals = Arrivals()
    arrivals.modifier_pressed("ctrl")
    assert arrivals.key_pressed("a", is_character=True) == "key ctrl+a"
    assert arrivals.modifier_released("ctrl") == ""
    arrivals.modifier_pressed("shift")
    arrivals.key_pressed("H", is_character=True)
    arrivals.modifier_released("shift")
    type_all(arrivals, "ello")
    assert arrivals.key_pressed("enter", is_character=False) == "key enter"
    assert list(arrivals.keys) == [Keys("ctrl+a", True), Keys("Hello", False), Keys("enter", True)]
    assert arrivals.lines == ["key ctrl+a", "key Hello", "key enter"]


def test_modifier_pressed_for_itself_is_a_key() -> None:
    arrivals = Arrivals()
    arrivals.modifier_pressed("ctrl")
    arrivals.modifier_pressed("super")
    assert arrivals.modifier_released("super") == "key ctrl+super"
    assert arrivals.modifier_released("ctrl") == ""


def test_release_without_a_press_is_nothing() -> None:
    arrivals = Arrivals()
    assert arrivals.button_released(1, 5, 5) == ""
    assert arrivals.modifier_released("ctrl") == ""
    assert arrivals.lines == []


def test_memory_is_bounded() -> None:
    arrivals = Arrivals()
    for number in range(1000):
        click(arrivals, number * 10, 0, number)
        arrivals.button_pressed(1, 0, 0, 0)
        arrivals.button_released(1, 100, number)
    type_all(arrivals, "x" * 1000)
    kept = (arrivals.strokes, arrivals.marks, arrivals.keys, arrivals.lines)
    assert all(len(each) <= 200 for each in kept)
    assert all(len(keys.text) <= 200 for keys in arrivals.keys)
    assert all(len(line) <= 200 for line in arrivals.lines)


def test_endless_drag_is_kept_coarser_with_its_start_and_end() -> None:
    arrivals = Arrivals()
    arrivals.button_pressed(1, 0, 0, 0)
    for number in range(1, 20_001):
        arrivals.pointer_moved(number, 0)
    (stroke,) = arrivals.held.values()
    assert len(stroke.places) <= 4000
    assert (stroke.places[0], stroke.places[-1]) == ((0, 0), (20_000, 0))
