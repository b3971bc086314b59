"""Pictures from a VNC server: what has changed, and a screen that changes its size."""

from contextlib import closing

from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.desktop import VncDesktop
from machine_client.desktop.vnc.rfb import client_messages as ours
from machine_client.desktop.vnc.view import encodings_for
from schemas.inputs.outcomes import Point
from schemas.link.messages import Display
from schemas.values.pictures import Region, Size
from tests.desktop import resize_screen
from tests.machine_client.desktop.vnc.plain_server import ONE_PIXEL, plain_server, rectangle
from tests.machine_client.desktop.vnc.xvnc import xvnc
from tests.waiting import eventually


def test_only_news_are_asked_for_after_the_first_picture() -> None:
    whole = rectangle(0, 0, 64, 48, ours.RAW, b"abcd" * 64 * 48)
    part = rectangle(1, 0, 1, 1, ours.RAW, b"efgh")
    with plain_server(ONE_PIXEL, whole, part) as server:
        with closing(VncDesktop(VncServer("127.0.0.1", server.port)).open_view()) as view:
            first = view.capture()
            assert (first.region, first.size) == (Region(0, 0, 64, 48), Size(64, 48))
            assert first.pixels == b"abcd" * 64 * 48
            assert view.capture().pixels[:12] == b"abcdefghabcd"

        def requests() -> list[bytes]:
            return [message for message in server.said if message[0] == 3]

        # The last two were sent together, and the first of them was answered.
        eventually(lambda: len(requests()) == 4, "the server has read them all")
        asked = requests()
    assert asked[1] == ours.update_request(0, 0, 64, 48, incremental=False)
    assert asked[2] == ours.update_request(0, 0, 64, 48, incremental=True)
    assert asked[3] == ours.update_request(0, 0, 1, 1, incremental=False)


def test_pixels_are_packed_on_their_way_through_a_network() -> None:
    assert encodings_for("127.0.0.1") == (ours.COPY_RECT, ours.RAW)
    assert encodings_for("10.0.0.7") == (ours.COPY_RECT, ours.ZLIB, ours.RAW)


def test_screen_that_shrinks_meanwhile_is_taken_anew() -> None:
    smaller = rectangle(0, 0, 2, 2, ours.DESKTOP_SIZE, b"")
    whole = rectangle(0, 0, 2, 2, ours.RAW, b"wxyz" * 4)
    with plain_server(ONE_PIXEL, smaller, smaller, whole, whole, whole) as server:
        view = VncDesktop(VncServer("127.0.0.1", server.port)).open_view()
        frame = view.capture()
        view.close()
    assert (frame.size, bytes(frame.pixels)) == (Size(2, 2), b"wxyz" * 4)


def test_real_screen_that_changes_its_size_is_seen_by_both() -> None:
    with xvnc(size="800x600") as (display, port, _):
        desktop = VncDesktop(VncServer("127.0.0.1", port))
        with closing(desktop.open_view()) as view, closing(desktop.open_input()) as input_:
            assert view.capture().size == Size(800, 600)
            resize_screen(display, 640, 400)
            smaller = [Display(x=0, y=0, width=640, height=400)]
            eventually(lambda: view.displays() == smaller or None, "the view knows its size")
            eventually(lambda: input_.displays() == smaller or None, "the input is told its size")
            assert view.capture().size == Size(640, 400)


def test_pointer_is_where_the_server_says_or_where_it_will_be_put() -> None:
    told = rectangle(3, 4, 0, 0, ours.POINTER_POSITION, b"")
    for answer, place in ((ONE_PIXEL, Point(x=32, y=24)), (told, Point(x=3, y=4))):
        with plain_server(ONE_PIXEL, answer) as server:
            view = VncDesktop(VncServer("127.0.0.1", server.port)).open_view()
            assert view.pointer() == place
            view.close()
