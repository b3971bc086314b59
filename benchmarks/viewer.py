"""Who looks at a live screen, and what there is to see: each a program of its own.

``python -m benchmarks.viewer view URL TOKEN COUNT`` reads so many streams of one screen and does
nothing with them; ``blink DISPLAY SECONDS`` changes a window's colour again and again.
"""

import http.client
import io
import sys
import threading
import time
from typing import Any
from urllib.parse import urlsplit

import Xlib.display
from PIL import Image
from Xlib import X

PATH = "/v1/computer/bench/display/stream"
WINDOW = (100, 100, 600, 400)
COLOURS = (0xFF0000, 0x0000FF)


class Window:
    """A window that is one colour, in which nothing else is drawn."""

    def __init__(self, display: str) -> None:
        self._display: Any = Xlib.display.Display(display)
        screen = self._display.screen()
        self._window = screen.root.create_window(
            *WINDOW, 0, screen.root_depth, X.InputOutput, override_redirect=True
        )
        self._window.map()

    def show(self, colour: int) -> None:
        """Have the X server show a colour before this returns."""
        self._window.change_attributes(background_pixel=colour)
        self._window.clear_area()
        self._display.sync()

    def close(self) -> None:
        """Take it away."""
        self._display.close()


class Stream:
    """A live screen, read picture after picture."""

    def __init__(self, url: str, token: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        self._connection.request("GET", PATH, headers={"Authorization": f"Bearer {token}"})
        self._response = self._connection.getresponse()
        if self._response.status != 200:
            raise RuntimeError(f"no stream: {self._response.read()!r}")
        self._response.readline()

    def picture(self) -> bytes:
        """The next picture."""
        length = 0
        while line := self._response.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        content = self._response.read(length)
        self._response.readline()
        self._response.readline()
        return content

    def close(self) -> None:
        """Leave."""
        self._connection.close()


def colour_of(content: bytes) -> int:
    """Which of the two colours a picture shows."""
    left, top, width, height = WINDOW
    image = Image.open(io.BytesIO(content))
    image.draft("RGB", image.size)
    red, _, blue = image.convert("RGB").getpixel((left + width // 2, top + height // 2))  # type: ignore[misc]
    return COLOURS[0] if red > blue else COLOURS[1]


def blink(display: str, seconds: float) -> None:
    """Show one colour and the other, for ever."""
    window = Window(display)
    print("there", flush=True)
    while True:
        for colour in COLOURS:
            window.show(colour)
            time.sleep(seconds)


def view(url: str, token: str, count: int) -> None:
    """Read so many streams, for ever; says so when each has its first picture."""

    def read(stream: Stream) -> None:
        while stream.picture():
            pass

    streams = [Stream(url, token) for _ in range(count)]
    for stream in streams:
        stream.picture()
        threading.Thread(target=read, args=(stream,), daemon=True).start()
    print("there", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    if sys.argv[1] == "blink":
        blink(sys.argv[2], float(sys.argv[3]))
    else:
        view(sys.argv[2], sys.argv[3], int(sys.argv[4]))
