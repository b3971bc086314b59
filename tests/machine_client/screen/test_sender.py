"""What this machine sends of its screen, message by message."""

from typing import Any

from machine_client.screen.sender import (
    MAX_REQUESTS,
    CaptureLive,
    DesktopQueried,
    ElementsListed,
    EncodedPicture,
    ListElements,
    OrderFailed,
    PictureCaptured,
    RunRequest,
    ScreenEffect,
    ScreenSender,
    SendFrame,
    SendScreenMessage,
    StopLive,
)
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
from schemas.link.picture_frames import FRAME_BYTES, WINDOW_BYTES, PictureKind, read_frame
from schemas.values.pictures import Region, Size

LARGEST = 1024 * 1024
CAPTURED_AT = 1_700_000_000_000


def start(stream: int = 1) -> ScreenStart:
    return ScreenStart(stream=stream, quality=70, rate=10, server_time=0)


def stop(stream: int = 1) -> ScreenStop:
    return ScreenStop(stream=stream, server_time=0)


def screenshot(request: int = 1) -> Screenshot:
    return Screenshot(request=request, format="png", quality=70, server_time=0)


def query(request: int = 1) -> DesktopQuery:
    return DesktopQuery(request=request, server_time=0)


def taken(order: Any, size: int = 5) -> PictureCaptured:
    picture = EncodedPicture("jpeg", b"x" * size, Size(4, 3), Region(0, 0, 8, 6), 1.0)
    return PictureCaptured(order, picture)


class Script:
    """Feeds a `ScreenSender` and notes what goes out."""

    def __init__(self) -> None:
        self.sender = ScreenSender()
        self.sent = 0

    def asked(self, question: Any, *expected: ScreenEffect) -> None:
        assert self.sender.asked(question) == [*expected]

    def credit(self, received: int) -> list[ScreenEffect]:
        return self._note(self.sender.asked(ScreenCredit(received=received, server_time=0)))

    def took(self, event: Any) -> list[ScreenEffect]:
        return self._note(self.sender.taken(event, CAPTURED_AT, LARGEST))

    def _note(self, effects: list[ScreenEffect]) -> list[ScreenEffect]:
        for effect in effects:
            if isinstance(effect, SendFrame):
                self.sent += len(read_frame(effect.frame)[2])
        return effects


def test_live_picture_is_sent_and_the_next_one_ordered_once_all_of_it_has_arrived() -> None:
    script, live = Script(), start(7)
    script.asked(live, CaptureLive(live))
    (effect,) = script.took(taken(live))
    assert isinstance(effect, SendFrame)
    head, offset, part = read_frame(effect.frame)
    assert (head.kind, head.number, head.captured_at) == (PictureKind.LIVE, 7, CAPTURED_AT)
    assert (head.size, head.region, head.total) == (Size(4, 3), Region(0, 0, 8, 6), 5)
    assert (offset, bytes(part)) == (0, b"xxxxx")
    assert script.credit(4) == []
    assert script.credit(5) == [CaptureLive(live)]
    assert script.credit(5) == []


def test_no_more_is_on_its_way_than_the_window_holds() -> None:
    script, live, size = Script(), start(), 3 * WINDOW_BYTES + 100
    script.asked(live, CaptureLive(live))
    script.took(taken(live, size))
    assert script.sent == WINDOW_BYTES
    assert script.credit(FRAME_BYTES - 1) == []
    assert len(script.credit(FRAME_BYTES)) == 1
    received = FRAME_BYTES
    while script.sent < size:
        assert script.sent - received <= WINDOW_BYTES
        received += FRAME_BYTES
        script.credit(received)
    assert script.credit(size) == [CaptureLive(live)]


def test_credit_for_what_was_never_sent_opens_no_window() -> None:
    script, live = Script(), start()
    script.asked(live, CaptureLive(live))
    assert script.credit(10 * WINDOW_BYTES) == []
    script.took(taken(live, 3 * WINDOW_BYTES))
    assert script.sent == WINDOW_BYTES
    assert len(script.credit(WINDOW_BYTES)) == WINDOW_BYTES // FRAME_BYTES
    assert script.credit(0) == []


def test_screen_that_is_stopped_sends_the_rest_of_its_picture_and_nothing_more() -> None:
    script, live, size = Script(), start(), WINDOW_BYTES + 5
    script.asked(live, CaptureLive(live))
    script.took(taken(live, size))
    script.asked(stop(), StopLive())
    assert len(script.credit(WINDOW_BYTES)) == 1
    assert script.sent == size
    assert script.credit(size) == []


def test_stop_of_another_stream_stops_nothing() -> None:
    script, first, second = Script(), start(1), start(2)
    script.asked(first, CaptureLive(first))
    script.asked(second, CaptureLive(second))
    script.asked(stop(1))
    assert script.took(taken(first)) == []
    assert len(script.took(taken(second))) == 1


def test_stream_that_takes_anothers_place_begins_when_its_picture_has_arrived() -> None:
    script, first, second = Script(), start(1), start(2)
    script.asked(first, CaptureLive(first))
    script.took(taken(first))
    script.asked(second)
    assert script.credit(5) == [CaptureLive(second)]


def test_screenshots_wait_for_the_picture_before_them() -> None:
    script, live, first, second = Script(), start(), screenshot(1), screenshot(2)
    script.asked(live, CaptureLive(live))
    script.asked(first, RunRequest(first))
    script.asked(second, RunRequest(second))
    assert len(script.took(taken(live))) == 1
    assert script.took(taken(second)) == []
    assert script.took(taken(first)) == []
    (sent,) = script.credit(5)
    assert isinstance(sent, SendFrame)
    head = read_frame(sent.frame)[0]
    assert (head.kind, head.number) == (PictureKind.SCREENSHOT, 2)
    (sent,) = script.credit(10)
    assert isinstance(sent, SendFrame)
    assert read_frame(sent.frame)[0].number == 1
    assert script.credit(15) == [CaptureLive(live)]


def test_desktop_is_told() -> None:
    script, asked = Script(), query(3)
    script.asked(asked, RunRequest(asked))
    displays, pointer = (Display(x=0, y=0, width=5, height=5),), Point(x=1, y=2)
    seen = DesktopSeen(request=3, displays=[*displays], pointer=pointer)
    assert script.took(DesktopQueried(asked, displays, pointer)) == [SendScreenMessage(seen)]
    assert script.took(DesktopQueried(asked, displays, pointer)) == []


def test_failures_are_told_and_end_what_failed() -> None:
    script, live, asked = Script(), start(4), screenshot(5)
    script.asked(live, CaptureLive(live))
    script.asked(asked, RunRequest(asked))
    failed = ScreenFailed(stream=4, reason="g" * 500)
    assert script.took(OrderFailed(live, "g" * 501)) == [StopLive(), SendScreenMessage(failed)]
    told = SendScreenMessage(RequestFailed(request=5, reason="gone"))
    assert script.took(OrderFailed(asked, "gone")) == [told]
    assert script.took(OrderFailed(live, "gone")) == script.took(OrderFailed(asked, "gone")) == []
    again = start(5)
    script.asked(again, CaptureLive(again))


def test_picture_that_the_server_would_not_take_is_not_sent() -> None:
    script, asked = Script(), screenshot()
    script.asked(asked, RunRequest(asked))
    (effect,) = script.took(taken(asked, LARGEST + 1))
    assert isinstance(effect, SendScreenMessage)
    assert isinstance(effect.message, RequestFailed)
    assert f"takes {LARGEST}" in effect.message.reason


def test_more_requests_than_can_wait_are_refused() -> None:
    script = Script()
    for number in range(MAX_REQUESTS):
        script.asked(query(number), RunRequest(query(number)))
    refused = RequestFailed(request=99, reason=f"more than {MAX_REQUESTS} requests wait")
    script.asked(query(99), SendScreenMessage(refused))


def test_what_an_earlier_link_ordered_is_not_told_on_the_next() -> None:
    script, old_live, old_request = Script(), start(), screenshot()
    script.asked(old_live, CaptureLive(old_live))
    script.asked(old_request, RunRequest(old_request))
    assert script.sender.over() == [StopLive()]
    assert script.sender.over() == []
    script = Script()
    live, request = start(), screenshot()
    script.asked(live, CaptureLive(live))
    script.asked(request, RunRequest(request))
    assert live == old_live
    assert script.took(taken(old_live)) == script.took(taken(old_request)) == []
    assert len(script.took(taken(live))) == 1


def test_question_about_elements_is_answered_once_and_those_of_an_earlier_link_never() -> None:
    script, asked = Script(), ElementsQuery(request=4, limit=5, server_time=0)
    listed = ElementsListed(asked, (), "limit", ("soffice",))
    script.asked(asked, ListElements(asked))
    answer = ElementsSeen(request=4, elements=[], truncated="limit", silent=["soffice"])
    assert script.took(listed) == [SendScreenMessage(answer)]
    assert script.took(listed) == []


def test_question_about_elements_fails_with_its_code() -> None:
    script, asked = Script(), ElementsQuery(request=4, limit=5, server_time=0)
    script.asked(asked, ListElements(asked))
    failed = RequestFailed(request=4, reason="there is no bus", code="elements_unavailable")
    (effect,) = script.took(OrderFailed(asked, "there is no bus", "elements_unavailable"))
    assert effect == SendScreenMessage(failed)


def test_questions_about_elements_are_bounded_as_all_are() -> None:
    script = Script()
    for number in range(MAX_REQUESTS):
        asked = ElementsQuery(request=number, limit=1, server_time=0)
        script.asked(asked, ListElements(asked))
    (effect,) = script.sender.asked(ElementsQuery(request=99, limit=1, server_time=0))
    assert isinstance(effect, SendScreenMessage)
    assert isinstance(effect.message, RequestFailed)
