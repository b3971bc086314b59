"""How several actions look at a screen that a test plays."""

from uuid import UUID

import pytest

from machine_client.desktop.base import DesktopError, Refusal
from machine_client.screen import eyes as eyes_module
from machine_client.screen.eyes import ScreenEyes
from machine_client.screen.sender import ActionPlace, PictureKept
from schemas.inputs.actions import ClosingPicture, TakePicture, WaitFor
from schemas.inputs.pictures import Area
from tests.machine_client.fakes import FakeView, closed_eyes

COMMAND = UUID(int=1)
OUTSIDE = Area(x=0, y=0, width=9, height=6)


def never() -> bool:
    return False


class Seeing:
    def __init__(self) -> None:
        self.view = FakeView()
        self.kept: list[PictureKept] = []
        self.eyes = ScreenEyes(self.view.open, self.kept.append)


def picture(**fields: object) -> TakePicture:
    return TakePicture.model_validate({"operation": "screenshot", **fields})


def test_pictures_are_kept_under_their_actions_and_the_view_is_opened_once() -> None:
    seeing = Seeing()
    seeing.eyes.take(COMMAND, 3, picture(), never)
    seeing.eyes.take(COMMAND, None, ClosingPicture(format="jpeg", settle=0.05), never)
    kept = [(each.command_id, each.action) for each in seeing.kept]
    assert kept == [(COMMAND, 3), (COMMAND, None)]
    first, closing = (each.picture for each in seeing.kept)
    assert first is not None
    assert closing is not None
    assert (first.format, closing.format) == ("png", "jpeg")
    assert seeing.view.opened == 1
    seeing.eyes.close()
    seeing.eyes.close()
    assert seeing.view.closed == 1


def test_what_cannot_be_taken_is_kept_as_the_reason() -> None:
    seeing = Seeing()
    seeing.eyes.take(COMMAND, 0, picture(region=OUTSIDE), never)
    seeing.view.failure = DesktopError("screen_unavailable", "the display is gone")
    seeing.eyes.take(COMMAND, 1, picture(), never)
    outside, gone = seeing.kept
    assert outside.picture is gone.picture is None
    assert "the region is not within the desktop" in outside.why_none
    assert gone.why_none == "the display is gone"


def test_pictures_of_one_command_have_a_bound_together(monkeypatch: pytest.MonkeyPatch) -> None:
    seeing = Seeing()
    seeing.eyes.take(COMMAND, 0, picture(), never)
    first = seeing.kept[0].picture
    assert first is not None
    monkeypatch.setattr(eyes_module, "MAX_PICTURES_BYTES", len(first.content) + 1)
    seeing.eyes.close()
    for action in (1, 2):
        seeing.eyes.take(COMMAND, action, picture(), never)
    fits, does_not = seeing.kept[1:]
    assert fits.picture is not None
    assert does_not.picture is None
    assert "1 are left: ask for smaller ones" in does_not.why_none
    seeing.eyes.close()
    seeing.eyes.take(COMMAND, 3, picture(), never)
    assert seeing.kept[3].picture is not None


def test_what_the_screen_does_not_have_is_refused_before_anything() -> None:
    seeing = Seeing()
    seeing.eyes.check(picture(region=Area(x=0, y=0, width=8, height=6)))
    with pytest.raises(Refusal, match="the region is not within the desktop"):
        seeing.eyes.check(picture(region=OUTSIDE))
    with pytest.raises(Refusal, match="there is no display 1"):
        seeing.eyes.check(ClosingPicture(display=1))
    wait = {"operation": "wait_for", "any": [{"still": 1, "region": OUTSIDE.model_dump()}]}
    with pytest.raises(Refusal) as caught:
        seeing.eyes.check(WaitFor.model_validate(wait))
    assert caught.value.outcome.loc == ("body", "any", "0", "region")


def test_wait_sees_what_changed_since_the_frame_before() -> None:
    seeing = Seeing()
    before = seeing.eyes.frame()
    seeing.view.colour = 9
    wait = WaitFor.model_validate({"operation": "wait_for", "any": [{"changed": True}]})
    sight = seeing.eyes.wait_for(ActionPlace(COMMAND, 0), wait, before, never)
    assert (sight.matched, sight.at) == (0, before.region)


def test_eyes_that_are_closed_see_nothing_and_say_so() -> None:
    eyes = closed_eyes()
    for look in (lambda: eyes.check(picture()), eyes.frame):
        with pytest.raises(DesktopError, match="without a screen"):
            look()
    kept: list[PictureKept] = []
    ScreenEyes(None, kept.append).take(COMMAND, None, ClosingPicture(), never)
    assert "without a screen" in kept[0].why_none


def test_mistake_of_ours_is_a_reason_too_and_closing_never_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seeing = Seeing()
    seeing.view.failure = OSError("too many open files")
    seeing.eyes.take(COMMAND, 0, picture(), never)
    assert seeing.kept[0].why_none == "the machine client made a mistake (OSError)"

    def fail() -> None:
        raise OSError("gone")

    monkeypatch.setattr(seeing.view, "close", fail)
    seeing.eyes.close()
