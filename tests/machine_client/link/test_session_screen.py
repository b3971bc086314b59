"""What is asked about the screen, in the life of a session and its links."""

from machine_client.link.events import CloseLink, LinkLost, LinkOpened, MessageReceived, SendMessage
from machine_client.screen.sender import (
    CaptureLive,
    EncodedPicture,
    OrderFailed,
    PictureCaptured,
    RunRequest,
    SendFrame,
    SendScreenMessage,
    StopLive,
)
from machine_client.work.orders import ReleaseHeld
from schemas.link.close_codes import CloseCode
from schemas.link.messages import RequestFailed, ScreenCredit, Screenshot, ScreenStart, ScreenStop
from schemas.link.picture_frames import read_frame
from schemas.values.pictures import Region, Size
from tests.machine_client.session_script import SERVER_EPOCH, Script, hello


def start(stream: int = 1) -> ScreenStart:
    return ScreenStart(stream=stream, quality=70, rate=10, server_time=SERVER_EPOCH)


def screenshot() -> Screenshot:
    return Screenshot(request=1, format="png", quality=70, server_time=SERVER_EPOCH)


def taken(order: ScreenStart | Screenshot, at: float) -> PictureCaptured:
    picture = EncodedPicture("jpeg", b"picture", Size(4, 3), Region(0, 0, 4, 3), at)
    return PictureCaptured(order, picture)


def test_live_screen_goes_its_way_and_says_when_by_the_servers_clock() -> None:
    script, live = Script(), start()
    script.on(MessageReceived(live), CaptureLive(live))
    script.clock.now = 12.5
    (effect,) = script.session.handle(taken(live, 12.25))
    assert isinstance(effect, SendFrame)
    assert read_frame(effect.frame)[0].captured_at == SERVER_EPOCH + 12_250
    credit = ScreenCredit(received=7, server_time=script.server_time())
    script.on(MessageReceived(credit), CaptureLive(live))
    stop = ScreenStop(stream=1, server_time=script.server_time())
    script.on(MessageReceived(stop), StopLive())


def test_lost_link_stops_the_live_screen_and_forgets_its_orders() -> None:
    script, live, asked = Script(), start(), screenshot()
    script.on(MessageReceived(live), CaptureLive(live))
    script.on(MessageReceived(asked), RunRequest(asked))
    script.on(LinkLost(), ReleaseHeld(), StopLive())
    script.on(taken(live, 0.0))
    script.link()
    script.on(taken(live, 0.0))
    script.on(OrderFailed(asked, "too late"))
    script.on(LinkLost(), ReleaseHeld())


def test_failed_screenshot_is_told() -> None:
    script, asked = Script(), screenshot()
    script.on(MessageReceived(asked), RunRequest(asked))
    failed = RequestFailed(request=1, reason="the display is gone")
    script.on(OrderFailed(asked, "the display is gone"), SendScreenMessage(failed))


def test_screen_that_is_asked_for_before_welcome_closes_the_link() -> None:
    script = Script(linked=False)
    script.on(LinkOpened(hello()), SendMessage(hello()))
    reason = "screen_start came before welcome"
    script.on(MessageReceived(start()), CloseLink(CloseCode.MESSAGE_INVALID, reason))
