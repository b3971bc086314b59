"""Which pictures steps have, and what is blacked out on them."""

import io
from collections.abc import Sequence
from typing import Any, Final

import pytest
from PIL import Image

from schemas.link.picture_frames import Picture
from schemas.values.pictures import Region, Size
from server.dispatch.recording import showing as module
from server.dispatch.recording.before_and_after import BeforeAndAfter, Elements
from server.dispatch.recording.drafts import GAP, Draft
from server.dispatch.recording.frames import Frames
from server.dispatch.recording.painting.uncovering import uncovered
from server.dispatch.recording.showing import NOT_SHOWN, Showing, Shown
from tests.pictures import picture
from tests.server.dispatch.recording.test_fields import WINDOW, draft, field, password, seen

SIZE = Size(640, 480)
AT: Final = 50, 60
"""Where the pointer is."""


def white(at: int) -> Picture:
    content = picture("png", *SIZE, shade=255)
    return Picture("png", content, SIZE, Region(0, 0, *SIZE), at)


def showing() -> Showing:
    """Of a screen that was white all the time."""
    frames = Frames()
    frames.arrived(white(1))
    return Showing(frames)


async def shown(showing: Showing, step: Draft, *, is_secret: bool = False) -> Shown:
    return await showing.of(step, 0, 2000, is_secret=is_secret)


def black_parts(shown: Shown, place: tuple[int, int]) -> list[bool | None]:
    """Whether a place is black before and after; None where there is no picture."""
    parts: list[bool | None] = []
    for each in shown:
        if each is None:
            parts.append(None)
            continue
        with Image.open(io.BytesIO(each.content)) as image:
            parts.append(image.convert("RGB").getpixel(place) == (0, 0, 0))
    return parts


def middle(of: Region | None) -> tuple[int, int]:
    assert of is not None
    return of.x + of.width // 2, of.y + of.height // 2


FIELD, PASSWORD = middle(field().bounds), middle(password().bounds)


def said_secret(before: Elements | None, after: Elements | None, **others: Any) -> Draft:
    return draft(before, after, is_said_secret=True, **others)


def click(around: BeforeAndAfter | None, *, is_said_secret: bool = False) -> Draft:
    clicked = draft(None, None, operation="mouse.click", is_said_secret=is_said_secret)
    clicked.text, clicked.around, clicked.last_around = None, around, around
    return clicked


async def test_password_is_blacked_out_on_its_steps_pictures_alone() -> None:
    both, looked = showing(), seen(password())
    assert black_parts(await shown(both, draft(looked, looked), is_secret=True), PASSWORD) == [
        True,
        True,
    ]
    assert black_parts(await shown(both, click(None)), PASSWORD) == [False, False]


async def test_step_whose_text_is_nobody_knows_where_has_no_pictures() -> None:
    both = showing()
    assert await shown(both, draft(None, None), is_secret=True) == NOT_SHOWN
    assert black_parts(await shown(both, click(None)), FIELD) == [False, False]


async def test_field_that_was_said_to_be_secret_is_blacked_out_as_long_as_it_is_there() -> None:
    both, looked = showing(), seen(field("hunter2"))
    step = said_secret(looked, looked)
    assert black_parts(await shown(both, step, is_secret=True), FIELD) == [True, True]
    later = click(BeforeAndAfter(looked, True, 1, looked, True))
    assert black_parts(await shown(both, later), FIELD) == [True, True]
    # It has moved with its window; where it was in between is not known, so it is both.
    moved = seen(field("hunter2", bounds=Region(300, 300, 80, 30)))
    later = click(BeforeAndAfter(looked, True, 1, moved, True))
    for place in (FIELD, (340, 315)):
        assert black_parts(await shown(both, later), place) == [True, True]
    # Nobody looked.
    assert await shown(both, click(None)) == NOT_SHOWN
    assert black_parts(
        await shown(both, click(BeforeAndAfter(looked, True, 1, None, False))), FIELD
    ) == [
        True,
        None,
    ]
    gone = click(BeforeAndAfter(seen(), True, 1, seen(), True))
    assert black_parts(await shown(both, gone), FIELD) == [False, False]
    back = click(BeforeAndAfter(seen(), True, 1, looked, True))
    assert black_parts(await shown(both, back), FIELD) == [True, True]


ACTIVE: Final = {WINDOW.ref: WINDOW.model_copy(update={"states": ["active"]})}
"""Nothing but a window, in which something has the focus that is not told."""


@pytest.mark.parametrize(
    "step",
    [
        said_secret(None, None),
        said_secret(ACTIVE, ACTIVE),
        said_secret(ACTIVE, ACTIVE, fresh=(False, True)),
    ],
    ids=["nothing", "window", "window afterwards"],
)
async def test_nothing_is_shown_of_a_secret_nobody_knows_where_until_it_is_said_to_be_over(
    step: Draft,
) -> None:
    both = showing()
    assert await shown(both, step, is_secret=True) == NOT_SHOWN
    assert await shown(both, click(None, is_said_secret=True)) == NOT_SHOWN
    assert black_parts(await shown(both, click(None)), FIELD) == [False, False]


async def test_nothing_is_shown_where_a_secret_was_typed_before_until_it_is_said_to_be_over() -> (
    None
):
    frames = Frames()
    frames.arrived(white(1))
    both = Showing(frames, is_blind=True)
    looked = BeforeAndAfter(seen(field("hunter2")), True, 1, seen(field("hunter2")), True)
    assert await shown(both, click(looked, is_said_secret=True)) == NOT_SHOWN
    assert black_parts(await shown(both, click(looked)), FIELD) == [False, False]


async def test_secret_of_a_step_that_is_not_shown_is_hidden_on_the_next_ones() -> None:
    both, looked = showing(), seen(field("hunter2"))
    both.learn(said_secret(looked, looked), is_secret=True)
    later = click(BeforeAndAfter(looked, True, 1, looked, True), is_said_secret=True)
    assert black_parts(await shown(both, later), FIELD) == [True, True]
    both.learn(said_secret(None, None, operation=GAP), is_secret=False)
    # Of other gaps nobody says that it is over.
    both.learn(draft(None, None, operation=GAP), is_secret=False)
    assert await shown(both, later) == NOT_SHOWN


def pointed(*moments: int) -> Frames:
    """A white screen with the pointer at `AT` from 1000 on, in pictures of these moments."""
    frames = Frames()
    frames.pointer_passed([(600, 400)], 0)
    frames.pointer_passed([AT], 1000)
    for moment in moments:
        frames.arrived(white(moment))
    return frames


def clicked_there(began: int) -> Draft:
    step = click(None)
    step.place, step.began, step.ended = AT, began, began + 1
    return step


async def test_picture_without_the_pointer_is_kept_as_it_is_unless_the_screen_has_changed_since(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frames, done = pointed(1000), uncovering(monkeypatch)
    bare = Picture("jpeg", b"no picture", SIZE, Region(0, 0, *SIZE), 1300)
    frames.arrived_bare(bare)
    before, _ = await Showing(frames).of(clicked_there(2000), 1000, None, is_secret=False)
    assert before is bare
    assert done == []
    frames.arrived(later := white(1500))
    before, _ = await Showing(frames).of(clicked_there(2000), 1000, None, is_secret=False)
    assert before is later
    assert done == [([1300], AT)]


async def test_pointer_is_taken_off_once_for_steps_that_find_the_same_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frames, done = pointed(1, 1000), uncovering(monkeypatch)
    both = Showing(frames)
    for began in (2000, 2001, 2002):
        await both.of(clicked_there(began), began, None, is_secret=False)
    assert done == [([1], AT)]
    frames.arrived(white(3000))
    await both.of(clicked_there(4000), 3000, None, is_secret=False)
    assert done == [([1], AT)] * 2


def uncovering(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[int], tuple[int, int]]]:
    """The moments of the pictures that the pointer is taken off with, and where."""
    done: list[tuple[list[int], tuple[int, int]]] = []

    def noted(shown: Picture, earlier: Sequence[Picture], place: tuple[int, int]) -> Picture:
        done.append(([each.captured_at for each in earlier], place))
        return uncovered(shown, earlier, place)

    monkeypatch.setattr(module, "uncovered", noted)
    return done


def test_step_waits_for_a_look_only_where_it_needs_one() -> None:
    both = showing()
    waiting = draft(seen(field()), None, over=False)
    assert both.needs_look(waiting, is_secret=True)
    assert not both.needs_look(waiting, is_secret=False)
    assert not both.needs_look(draft(seen(field()), None), is_secret=True)
    assert not both.needs_look(click(None), is_secret=True)
