"""Signs on an X server: windows with a text or a picture, for what looks at screens."""

import io
from base64 import b64encode
from typing import Any, Self

import Xlib.display
from PIL import Image, ImageDraw, ImageFont
from Xlib import X

LIGHT, DARK = ("#f0f0f0", "#202020"), ("#202428", "#e8e8e8")

Colours = tuple[str, str]


def drawn(text: str, size: tuple[int, int] = (400, 100), colours: Colours = LIGHT) -> Image.Image:
    """A text on a ground, in the middle of its height."""
    ground, ink = colours
    image = Image.new("RGB", size, ground)
    place = 20, size[1] // 2
    font = ImageFont.load_default(16)
    ImageDraw.Draw(image).text(place, text, fill=ink, font=font, anchor="lm")
    return image


def png(image: Image.Image) -> bytes:
    """An image as a file."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def base64_png(image: Image.Image) -> str:
    """The same in Base64."""
    return b64encode(png(image)).decode()


class Sign:
    """A window that shows an image at a place, and another where it is told so."""

    def __init__(self, display: str, image: Image.Image, place: tuple[int, int]) -> None:
        self._display: Any = Xlib.display.Display(display)
        screen = self._display.screen()
        self._depth = screen.root_depth
        self._window = screen.root.create_window(
            *(*place, *image.size, 0, screen.root_depth, X.InputOutput), override_redirect=True
        )
        self.show(image)
        self._window.map()
        self._display.sync()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def show(self, image: Image.Image) -> None:
        """Show this from now on."""
        pixmap = self._window.create_pixmap(*image.size, self._depth)
        pixmap.put_pil_image(pixmap.create_gc(), 0, 0, image)
        self._window.change_attributes(background_pixmap=pixmap)
        self._window.clear_area()
        pixmap.free()
        self._display.sync()

    def close(self) -> None:
        """Take it away."""
        self._display.close()
