"""What may come back of what was asked about a screen, and what must not."""

import pytest

from schemas.inputs.outcomes import Point
from schemas.link.element_messages import ElementsQuery, ElementsSeen
from schemas.link.messages import (
    DesktopQuery,
    DesktopSeen,
    Display,
    RequestFailed,
    ScreenCredit,
    ScreenFailed,
    Screenshot,
    ScreenStart,
    ScreenStop,
)
from schemas.link.picture_frames import FRAME_BYTES, Picture, PictureHeader, PictureKind
from schemas.values.pictures import Size
from server.machines.link.questions.pictures import PictureError
from server.machines.link.questions.screen import (
    DesktopArrived,
    ElementsArrived,
    LivePictureArrived,
    LiveScreenEnded,
    RequestRefused,
    ScreenLink,
    ScreenshotArrived,
)
from tests.links import SERVER_TIME
from tests.pictures import CAPTURED_AT, frames_of, header, noise, picture
from tests.told_elements import element

SEEN = DesktopSeen(
    request=1, displays=[Display(x=0, y=0, width=5, height=5)], pointer=Point(x=1, y=2)
)


def screen() -> ScreenLink:
    return ScreenLink(1024 * 1024, lambda: SERVER_TIME)


def start(stream: int = 1, **wish: int) -> ScreenStart:
    return ScreenStart(stream=stream, quality=70, rate=10, server_time=SERVER_TIME, **wish)


def stop(stream: int = 1) -> ScreenStop:
    return ScreenStop(stream=stream, server_time=SERVER_TIME)


def screenshot(request: int = 1) -> Screenshot:
    return Screenshot(request=request, format="png", quality=70, server_time=SERVER_TIME)


def credit(received: int) -> ScreenCredit:
    return ScreenCredit(received=received, server_time=SERVER_TIME)


def arrive(link: ScreenLink, head: PictureHeader, content: bytes | None = None) -> list[object]:
    return [effect for frame in frames_of(head, content) for effect in link.frame_received(frame)]


def test_live_picture_arrives_with_credit_for_the_next() -> None:
    link, content = screen(), picture()
    link.asked(start())
    taken = Picture("jpeg", content, Size(64, 40), header().region, SERVER_TIME)
    assert arrive(link, header()) == [credit(len(content)), LivePictureArrived(taken)]
    assert arrive(link, header())[0] == credit(2 * len(content))


def test_capture_is_never_later_than_its_arrival() -> None:
    link = screen()
    link.asked(start())
    for captured_at in (SERVER_TIME - 300, SERVER_TIME + 5):
        arrived = arrive(link, header(captured_at=captured_at))[-1]
        assert isinstance(arrived, LivePictureArrived)
        assert arrived.picture.captured_at == min(captured_at, SERVER_TIME)
    assert CAPTURED_AT > SERVER_TIME


def test_large_picture_gets_credit_on_its_way() -> None:
    link, content = screen(), noise()
    link.asked(start())
    effects = arrive(link, header(content, size=Size(640, 400)), content)
    credited = [effect.received for effect in effects if isinstance(effect, ScreenCredit)]
    steps = list(range(2 * FRAME_BYTES, len(content), 2 * FRAME_BYTES))
    assert credited == [*steps, len(content)]


def test_one_picture_of_a_stopped_stream_is_taken_and_shown_to_nobody() -> None:
    link = screen()
    link.asked(start())
    link.asked(stop())
    assert arrive(link, header()) == [credit(len(picture()))]
    with pytest.raises(PictureError, match="nobody asked for"):
        arrive(link, header())


def test_picture_under_way_when_its_stream_gives_way_is_dropped() -> None:
    link, content = screen(), noise()
    link.asked(start())
    head = header(content, size=Size(640, 400))
    first, *rest = frames_of(head, content)
    link.frame_received(first)
    link.asked(start(2, width=100))
    for frame in rest:
        assert not any(isinstance(each, LivePictureArrived) for each in link.frame_received(frame))
    assert len(arrive(link, header(number=2))) == 2
    with pytest.raises(PictureError, match="nobody asked for"):
        arrive(link, header(number=1))


def test_screenshot_arrives_once() -> None:
    link, content = screen(), picture("png")
    link.asked(screenshot())
    head = header(content, kind=PictureKind.SCREENSHOT, form="png")
    _, arrived = arrive(link, head, content)
    assert isinstance(arrived, ScreenshotArrived)
    assert (arrived.request, arrived.picture.content) == (1, content)
    with pytest.raises(PictureError, match="nobody asked for"):
        arrive(link, head, content)


def test_answers_to_requests_arrive_once() -> None:
    link = screen()
    link.asked(DesktopQuery(request=1, server_time=SERVER_TIME))
    link.asked(screenshot(2))
    assert link.answered(SEEN) == [DesktopArrived(1, SEEN)]
    refused = RequestFailed(request=2, reason="because")
    assert link.answered(refused) == [RequestRefused(2, "because")]
    for answer in (SEEN, refused):
        with pytest.raises(PictureError, match="nobody has made"):
            link.answered(answer)


def test_screenshot_is_not_answered_by_a_desktop() -> None:
    link = screen()
    link.asked(screenshot())
    with pytest.raises(PictureError, match="nobody has made"):
        link.answered(SEEN)


def test_live_screen_that_fails_ends_unless_another_has_taken_its_place() -> None:
    link = screen()
    link.asked(start())
    link.asked(start(2))
    assert link.answered(ScreenFailed(stream=1, reason="late")) == []
    assert link.answered(ScreenFailed(stream=2, reason="gone")) == [LiveScreenEnded("gone")]
    with pytest.raises(PictureError, match="nobody asked for"):
        link.answered(ScreenFailed(stream=3, reason="gone"))


@pytest.mark.parametrize(
    "head",
    [
        header(number=0),
        header(number=2),
        header(picture("png"), form="png"),
        header(kind=PictureKind.SCREENSHOT),
        header(kind=PictureKind.SCREENSHOT, number=7),
    ],
)
def test_picture_that_nobody_asked_for_is_refused_at_its_first_frame(head: PictureHeader) -> None:
    link = screen()
    link.asked(start())
    link.asked(screenshot())
    with pytest.raises(PictureError, match="nobody asked for"):
        link.frame_received(head.frame(0, b"x"))


@pytest.mark.parametrize("wish", [{"width": 63}, {"height": 39}])
def test_picture_that_is_larger_than_asked_for_is_refused(wish: dict[str, int]) -> None:
    link = screen()
    link.asked(start(**wish))
    with pytest.raises(PictureError, match="larger than asked for"):
        arrive(link, header())


QUERY = ElementsQuery(request=1, limit=1, server_time=SERVER_TIME)


def test_elements_are_told_where_they_were_asked_for() -> None:
    link = screen()
    link.asked(QUERY)
    told = ElementsSeen(request=1, elements=[element()])
    assert link.answered(told) == [ElementsArrived(1, told)]
    with pytest.raises(PictureError, match="nobody has made"):
        link.answered(told)
    failed = RequestFailed(request=1, reason="why", code="elements_unavailable")
    link.asked(QUERY)
    assert link.answered(failed) == [RequestRefused(1, "why", "elements_unavailable")]


def test_more_elements_than_were_asked_for_are_unexpected() -> None:
    link = screen()
    link.asked(QUERY)
    with pytest.raises(PictureError, match="more elements"):
        link.answered(ElementsSeen(request=1, elements=[element(), element(name="b")]))
    link.asked(screenshot(2))
    with pytest.raises(PictureError, match="nobody has made"):
        link.answered(ElementsSeen(request=2, elements=[]))
