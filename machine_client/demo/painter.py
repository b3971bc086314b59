"""Draws what arrived at the demo's window: a sheet with strokes and marks, and a panel of words."""

from collections.abc import Iterable, Sequence
from typing import Any

import Xlib.error
from Xlib import X

from machine_client.demo.arrivals import Arrivals, Keys, Mark, Stroke

PANEL_WIDTH = 380
GRID, LABELLED = 20, 100

COLOURS = {
    "sheet": "#0f151d",
    "grid": "#222d3a",
    "frame": "#2c3947",
    "panel": "#161e28",
    "cap": "#243140",
    "dim": "#8393a5",
    "text": "#e3eaf2",
    "pointer": "#ffffff",
    "accent": "#34d3b4",
    "left": "#5ba8ff",
    "middle": "#f07ab8",
    "right": "#f6b73c",
    "back": "#9d8cff",
    "forward": "#8bd450",
}

# Each with what takes its place on an X server without the usual bitmap fonts.
FONTS = {
    "large": ("-misc-fixed-medium-r-normal--20-*-iso10646-1", "10x20", "fixed"),
    "bold": ("-misc-fixed-bold-r-normal--18-*-iso10646-1", "9x15bold", "fixed"),
    "text": ("-misc-fixed-medium-r-normal--18-*-iso10646-1", "9x15", "fixed"),
    "small": ("-misc-fixed-medium-r-semicondensed--13-*-iso10646-1", "6x13", "fixed"),
}

CLICK_NAMES = {2: "double", 3: "triple"}
Place = tuple[int, int]


class Painter:
    """Paints `Arrivals` into a window.  Each picture is made out of sight and shown at once."""

    def __init__(self, display: Any, window: Any, width: int, height: int) -> None:
        self._display, self._window = display, window
        self._width, self._height = width, height
        self._edge = width - PANEL_WIDTH
        colormap = display.screen().default_colormap
        self._pixels = {
            name: colormap.alloc_named_color(colour).pixel for name, colour in COLOURS.items()
        }
        self._fonts = {name: _font(display, patterns) for name, patterns in FONTS.items()}
        # Every one of them gives all characters one width.
        self._widths = {
            name: int(font.query().max_bounds.character_width) for name, font in self._fonts.items()
        }
        depth = display.screen().root_depth
        self._empty = window.create_pixmap(width, height, depth)
        self._picture = window.create_pixmap(width, height, depth)
        # Without graphics_exposures off, each copy is answered by an event, which asks for the next
        # picture, for ever.
        self._pen = self._picture.create_gc(
            cap_style=X.CapRound, join_style=X.JoinRound, graphics_exposures=False
        )
        self._target = self._empty
        self._paint_empty()
        self._target = self._picture

    def paint(self, arrivals: Arrivals) -> None:
        """Show everything as it is now."""
        size = (self._width, self._height)
        self._picture.copy_area(self._pen, self._empty, 0, 0, *size, 0, 0)
        for stroke in (*arrivals.strokes, *arrivals.held.values()):
            self._paint_stroke(stroke)
        for mark in arrivals.marks:
            self._paint_mark(mark)
        self._paint_panel(arrivals)
        if arrivals.pointer is not None:
            self._paint_pointer(arrivals.pointer)
        self._window.copy_area(self._pen, self._picture, 0, 0, *size, 0, 0)
        self._display.flush()

    def _paint_empty(self) -> None:
        self._box("sheet", 0, 0, self._width, self._height)
        self._colour("grid")
        dots = [(x, y) for x in range(0, self._edge, GRID) for y in range(0, self._height, GRID)]
        for start in range(0, len(dots), 1000):
            self._target.poly_point(self._pen, X.CoordModeOrigin, dots[start : start + 1000])
        for x in range(LABELLED, self._edge, LABELLED):
            self._line("grid", 1, [(x, 0), (x, self._height)])
            self._text("small", "dim", x + 4, 14, str(x))
        for y in range(LABELLED, self._height, LABELLED):
            self._line("grid", 1, [(0, y), (self._edge, y)])
            self._text("small", "dim", 4, y - 4, str(y))
        self._box("panel", self._edge, 0, PANEL_WIDTH, self._height)
        self._line("frame", 1, [(self._edge, 0), (self._edge, self._height)])
        left = self._edge + 28
        self._text("large", "text", left, 48, "Farhand demo")
        size = f"display {self._display.get_display_name()}, {self._width} x {self._height} pixels"
        self._text("small", "dim", left, 70, size)
        for title, y in (("pointer", 112), ("wheel", 214), ("keys", 300), ("arrived", 470)):
            self._text("small", "accent", left, y, title.upper())
            self._line("frame", 1, [(left + 60, y - 4), (self._width - 28, y - 4)])

    def _paint_stroke(self, stroke: Stroke) -> None:
        self._line(stroke.button, 5, stroke.places)
        self._disc(stroke.button, *stroke.places[0], 7)
        self._disc("sheet", *stroke.places[0], 3)
        self._disc(stroke.button, *stroke.places[-1], 7)

    def _paint_mark(self, mark: Mark) -> None:
        self._disc(mark.button, mark.x, mark.y, 5)
        for ring in range(1, min(mark.clicks, 3) + 1):
            self._ring(mark.button, mark.x, mark.y, 6 + 7 * ring)
        name = CLICK_NAMES.get(mark.clicks, "")
        label = (
            f"{name} click" if name else "click" if mark.clicks == 1 else f"{mark.clicks} clicks"
        )
        self._text("small", "text", mark.x + 14 + 7 * min(mark.clicks, 3), mark.y + 4, label)

    def _paint_pointer(self, place: Place) -> None:
        x, y = place
        arrow = ((0, 0), (0, 19), (5, 15), (8, 22), (11, 21), (8, 14), (14, 14), (0, 0))
        outline = [(x + a, y + b) for a, b in arrow]
        self._colour("pointer")
        self._target.fill_poly(self._pen, X.Complex, X.CoordModeOrigin, outline)
        self._line("sheet", 1, outline)

    def _paint_panel(self, arrivals: Arrivals) -> None:
        left = self._edge + 28
        where = "not seen yet" if arrivals.pointer is None else "{}, {}".format(*arrivals.pointer)
        self._text("large", "text", left, 142, where)
        self._paint_buttons(arrivals.held, left, 168)
        for column, direction in enumerate(("up", "down", "left", "right")):
            self._paint_wheel(direction, arrivals.notches[direction], left + column * 82, 246)
        self._paint_keys(list(arrivals.keys), left, 318)
        self._paint_lines(arrivals.lines, left, 500)

    def _paint_buttons(self, held: Iterable[str], x: int, y: int) -> None:
        for column, button in enumerate(("left", "middle", "right")):
            place = x + 7 + column * 100
            self._disc(button, place, y, 7)
            if button not in held:
                self._disc("panel", place, y, 5)
            word = f"{button} down" if button in held else button
            self._text("small", "text" if button in held else "dim", place + 14, y + 5, word)

    def _paint_wheel(self, direction: str, count: int, x: int, y: int) -> None:
        tip = {"up": (0, -7), "down": (0, 7), "left": (-7, 0), "right": (7, 0)}[direction]
        a, b = tip
        middle_x, middle_y = x + 8, y - 7
        corners = [(a, b), (-a - b, -b - a), (-a + b, -b + a)]
        self._colour("accent" if count else "frame")
        self._target.fill_poly(
            *(self._pen, X.Convex, X.CoordModeOrigin),
            [(middle_x + c, middle_y + d) for c, d in corners],
        )
        self._text("large", "text" if count else "dim", x + 26, y, str(count))

    def _paint_keys(self, keys: Sequence[Keys], x: int, y: int) -> None:
        """The last caps that fit, in lines from left to right."""
        lines: list[list[tuple[Keys, str, int]]] = [[]]
        used = 0
        for each in keys:
            text = each.text[-28:]
            width = self._text_width("text", text) + 20
            if used + width > PANEL_WIDTH - 56 and lines[-1]:
                lines.append([])
                used = 0
            lines[-1].append((each, text, used))
            used += width + 8
        for row, line in enumerate(lines[-4:]):
            top = y + row * 34
            for each, text, offset in line:
                width = self._text_width("text", text) + 20
                self._box("cap", x + offset, top, width, 26)
                if each.is_chord:
                    self._line("accent", 1, _rectangle(x + offset, top, width - 1, 26))
                self._text("text", "text", x + offset + 10, top + 18, text)

    def _paint_lines(self, lines: Sequence[str], x: int, y: int) -> None:
        height = 24
        shown = lines[-((self._height - y - 16) // height) :] if lines else ["nothing yet"]
        for row, line in enumerate(shown):
            kind, _, rest = line.partition(" ")
            place = y + row * height
            self._text("bold" if lines else "text", "dim", x, place, kind)
            offset = 70 if lines else self._text_width("text", kind) + 9
            self._text("text", "text" if lines else "dim", x + offset, place, rest[:28])

    def _colour(self, name: str, width: int = 1) -> None:
        # Buttons beyond the third have no colour of their own.
        pixel = self._pixels.get(name, self._pixels["dim"])
        self._pen.change(foreground=pixel, line_width=width)

    def _box(self, colour: str, x: int, y: int, width: int, height: int) -> None:
        self._colour(colour)
        self._target.fill_rectangle(self._pen, x, y, width, height)

    def _line(self, colour: str, width: int, places: Sequence[Place]) -> None:
        self._colour(colour, width)
        self._target.poly_line(self._pen, X.CoordModeOrigin, list(places))

    def _disc(self, colour: str, x: int, y: int, radius: int) -> None:
        self._colour(colour)
        size = 2 * radius
        self._target.fill_arc(self._pen, x - radius, y - radius, size, size, 0, 360 * 64)

    def _ring(self, colour: str, x: int, y: int, radius: int) -> None:
        self._colour(colour, 2)
        size = 2 * radius
        self._target.arc(self._pen, x - radius, y - radius, size, size, 0, 360 * 64)

    def _text(self, font: str, colour: str, x: int, y: int, text: str) -> None:
        self._colour(colour)
        self._pen.change(font=self._fonts[font])
        self._target.draw_text(self._pen, x, y, _glyphs(text))

    def _text_width(self, font: str, text: str) -> int:
        return self._widths[font] * len(text)


def _font(display: Any, patterns: Sequence[str]) -> Any:
    for pattern in patterns:
        if display.list_fonts(pattern, 1):
            return display.open_font(pattern)
    raise Xlib.error.DisplayError(f"the X server has none of the fonts {', '.join(patterns)}")


def _glyphs(text: str) -> bytes:
    return text.encode("latin-1", "replace")


def _rectangle(x: int, y: int, width: int, height: int) -> list[Place]:
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)]
