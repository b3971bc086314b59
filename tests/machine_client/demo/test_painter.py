"""The demo's pictures on a real X server, out of anybody's sight."""

from collections.abc import Iterator
from typing import Any

import pytest
import Xlib.display
import Xlib.error
from Xlib import X

from machine_client.demo import painter as demo_painter
from machine_client.demo.arrivals import Arrivals
from machine_client.demo.painter import COLOURS, FONTS, PANEL_WIDTH, Painter

WIDTH, HEIGHT = 1280, 800


@pytest.fixture
def connection(display: str) -> Iterator[Any]:
    opened: Any = Xlib.display.Display(display)
    yield opened
    opened.close()


@pytest.fixture
def sheet(connection: Any) -> Any:
    """Something to paint into that is not shown."""
    screen = connection.screen()
    return screen.root.create_pixmap(WIDTH, HEIGHT, screen.root_depth)


def colours_in(sheet: Any, x: int, y: int, width: int = 1, height: int = 1) -> set[str]:
    """The names of the colours in a part of a picture."""
    data = sheet.get_image(x, y, width, height, X.ZPixmap, 0xFFFFFFFF).data
    seen = {data[at : at + 3][::-1].hex() for at in range(0, len(data), 4)}
    return {name for name, colour in COLOURS.items() if colour[1:] in seen}


def test_nothing_yet_is_an_empty_sheet_and_words(connection: Any, sheet: Any) -> None:
    Painter(connection, sheet, WIDTH, HEIGHT).paint(Arrivals())
    assert colours_in(sheet, 410, 310, 80, 80) <= {"sheet", "grid"}
    panel = colours_in(sheet, WIDTH - PANEL_WIDTH + 2, 0, PANEL_WIDTH - 2, HEIGHT)
    assert {"panel", "text", "dim", "accent"} <= panel


def test_everything_that_arrived_is_seen(connection: Any, sheet: Any) -> None:
    arrivals = Arrivals()
    arrivals.button_pressed(1, 210, 210, 0)
    arrivals.button_released(1, 390, 210)
    arrivals.button_pressed(3, 610, 610, 0)
    arrivals.button_released(3, 610, 610)
    for button, x in ((8, 100), (9, 300)):
        arrivals.button_pressed(button, x, 610, 0)
        arrivals.button_released(button, x, 610)
    arrivals.button_pressed(2, 410, 510, 0)
    arrivals.pointer_moved(490, 510)
    arrivals.key_pressed("enter", is_character=False)
    painter = Painter(connection, sheet, WIDTH, HEIGHT)
    painter.paint(arrivals)
    assert colours_in(sheet, 300, 210) == {"left"}
    assert colours_in(sheet, 610, 610) == {"right"}
    assert colours_in(sheet, 450, 510) == {"middle"}
    assert [colours_in(sheet, x, 610) for x in (100, 300)] == [{"back"}, {"forward"}]
    assert "pointer" in colours_in(sheet, 490, 510, 20, 25)
    assert "cap" in colours_in(sheet, WIDTH - PANEL_WIDTH, 310, PANEL_WIDTH, 60)


def test_painting_causes_no_event_that_would_ask_for_another_picture(
    connection: Any, sheet: Any
) -> None:
    Painter(connection, sheet, WIDTH, HEIGHT).paint(Arrivals())
    connection.sync()
    assert connection.pending_events() == 0


def test_any_text_and_any_amount_can_be_painted(connection: Any, sheet: Any) -> None:
    arrivals = Arrivals()
    for number in range(300):
        arrivals.key_pressed(f"key {number} €漢", is_character=False)
        arrivals.button_pressed(9, number, -50, number)
        arrivals.button_released(9, number + 100, 5000)
    painter = Painter(connection, sheet, WIDTH, HEIGHT)
    painter.paint(arrivals)
    assert "cap" in colours_in(sheet, WIDTH - PANEL_WIDTH, 310, PANEL_WIDTH, 140)


def test_server_without_the_usual_fonts_is_enough(
    connection: Any, sheet: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    built_in = dict.fromkeys(FONTS, ("-none-such-*", "fixed"))
    monkeypatch.setattr(demo_painter, "FONTS", built_in)
    Painter(connection, sheet, WIDTH, HEIGHT).paint(Arrivals())
    assert "text" in colours_in(sheet, WIDTH - PANEL_WIDTH, 30, PANEL_WIDTH, 30)


def test_server_without_any_font_is_refused_in_words(
    connection: Any, sheet: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_painter, "FONTS", {"large": ("-none-such-*",)})
    with pytest.raises(Xlib.error.DisplayError, match="none-such"):
        Painter(connection, sheet, WIDTH, HEIGHT)
