"""Which picture shows the screen as it was at a moment."""

from schemas.link.picture_frames import Picture
from schemas.values.pictures import Region, Size
from server.dispatch.recording import frames as frames_module
from server.dispatch.recording.frames import FRESH, MOST_KEPT, Frames


def at(moment: int, content: bytes = b"x") -> Picture:
    """A picture that was taken then."""
    return Picture("jpeg", content, Size(1, 1), Region(0, 0, 1, 1), moment)


def filled(*moments: int) -> Frames:
    frames = Frames()
    for moment in moments:
        frames.arrived(at(moment))
    return frames


def taken(picture: Picture | None) -> int | None:
    return None if picture is None else picture.captured_at


def test_last_picture_before_a_moment_is_how_the_screen_was() -> None:
    frames = filled(1000, 2000, 3000)
    assert taken(frames.at(2500, 0)) == 2000
    assert taken(frames.at(9000, 5000)) == 3000
    assert taken(frames.newest) == 3000


def test_screen_that_was_just_worked_on_is_not_known_where_it_changed_then() -> None:
    frames = filled(1000, 2000)
    assert frames.at(1990, 1950) is None
    assert taken(frames.at(1000 + FRESH, 1100)) == 1000
    assert taken(frames.at(1990, 1990 - FRESH)) == 1000
    # It did not change at all: so it was as before.
    assert taken(filled(1000).at(1990, 1950)) == 1000
    assert taken(frames.at(2010, 1950)) == 2000


def test_picture_of_before_is_used_where_its_own_is_not_kept_any_more() -> None:
    frames, early = filled(5000), at(900)
    assert frames.at(1000, 0) is None
    assert taken(frames.at(1000, 0, early)) == 900


def test_few_pictures_are_kept() -> None:
    frames = filled(*range(3 * MOST_KEPT))
    assert len(frames._kept) == MOST_KEPT
    large = bytes(frames_module.MOST_BYTES)
    frames.arrived(at(10_000, large))
    assert [each.captured_at for each in frames._kept] == [10_000]


def test_screen_is_not_known_while_no_pictures_come() -> None:
    frames = filled(1000)
    frames.ended(2000)
    frames.ended(2500)
    assert taken(frames.at(1900, 0)) == 1000
    assert frames.at(2100, 0) is None
    assert frames.newest is None
    frames.arrived(at(3000))
    assert frames.at(2900, 0) is None
    assert taken(frames.at(3100, 0)) == 3000


def test_earlier_pictures_have_the_pointer_elsewhere() -> None:
    frames = filled(1000, 2000, 3000, 4000)
    shown = frames.at(9000, 0)
    assert shown is not None
    assert frames.uncovered(shown, (100, 100), 0) == []
    frames.pointer_passed([(900, 900)], 500)
    frames.pointer_passed([(300, 300), (90, 120)], 2900)
    assert [each.captured_at for each in frames.uncovered(shown, (100, 100), 0)] == [2000, 1000]
    assert [each.captured_at for each in frames.uncovered(shown, (100, 100), 1500)] == [2000]
    assert frames.uncovered(shown, (500, 500), 0) == []
    # It was there on its way.
    assert (
        frames.uncovered(filled(2900).at(2900, 0) or shown, (300, 300), 0)
        == [each for each in (frames.at(1000, 0), frames.at(2000, 0)) if each][::-1]
    )
