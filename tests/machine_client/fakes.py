"""An injector and a view that do what each test tells them to, and a command."""

import threading
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

from machine_client.desktop.base import DesktopView, RawFrame
from machine_client.screen.eyes import ScreenEyes
from machine_client.system.clock import boottime_seconds
from schemas.inputs.bodies import AnyInput, MoveMouse, Operation
from schemas.inputs.outcomes import Effect, Point
from schemas.link.messages import Display, Input, Released
from schemas.values.pictures import Region, Size
from tests.links import LINK_ID

HERE = Point(x=1, y=2)
DISPLAY = Display(x=0, y=0, width=8, height=6)


class FakeInjector:
    """Notes what it is told; a test may set what else happens at each step."""

    injected = 0
    effect: Effect = "happened"
    is_lost = False

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.interrupted = threading.Event()
        self.released: Released | None = None
        self.on_prepare: Callable[[], None] = lambda: None
        self.on_inject: Callable[[], None] = lambda: None
        self.on_release: Callable[[], None] = lambda: None
        self.on_pause: Callable[[float], object] = self.interrupted.wait

    def prepare(self, body: AnyInput) -> Callable[[], Point]:
        assert isinstance(body, MoveMouse)
        self.on_prepare()

        def inject() -> Point:
            self.calls.append(f"inject {body.x}")
            self.on_inject()
            return HERE

        return inject

    @property
    def is_interrupted(self) -> bool:
        return self.interrupted.is_set()

    def release(self, body: AnyInput) -> None:
        self.calls.append("let go")

    def pause(self, seconds: float) -> None:
        self.on_pause(seconds)

    def pointer(self) -> Point:
        return HERE

    def interrupt(self) -> None:
        self.interrupted.set()

    def release_all(self) -> None:
        self.calls.append("release")
        self.on_release()
        self.interrupted.clear()

    def take_released(self) -> Released | None:
        released, self.released = self.released, None
        return released

    def displays(self) -> list[Display]:
        return []

    def close(self) -> None:
        self.calls.append("close")


class FakeView:
    """A screen of one colour that counts who looks at it."""

    def __init__(self) -> None:
        self.colour = 0
        self.captures = 0
        self.opened = self.closed = 0
        self.failure: Exception | None = None
        self.captured_at: list[float] = []
        self.threads: set[str] = set()
        self.size = Size(8, 6)
        self.pixels: bytearray | None = None

    def open(self) -> DesktopView:
        self.opened += 1
        return self

    def wait_until_drawn(self, seconds: float) -> bool:
        time.sleep(seconds)
        return True

    def capture(self, *, pointer: bool = True) -> RawFrame:
        self.captures += 1
        self.threads.add(threading.current_thread().name)
        if self.failure is not None:
            raise self.failure
        now = boottime_seconds()
        self.captured_at.append(now)
        pixels = bytearray([self.colour] * (8 * 6 * 4)) if self.pixels is None else self.pixels
        return RawFrame(Region(0, 0, *self.size), self.size, pixels, now)

    def displays(self) -> list[Display]:
        return [DISPLAY]

    def pointer(self) -> Point:
        return Point(x=1, y=2)

    def close(self) -> None:
        self.closed += 1


def closed_eyes() -> ScreenEyes:
    """What looks at no screen."""
    return ScreenEyes(None, lambda _: None)


def move(command_id: UUID, x: Any = 1, fingerprint: str = "f") -> Input:
    return Input(
        link_id=LINK_ID,
        command_id=command_id,
        operation=Operation.MOUSE_MOVE,
        body={"x": x, "y": 2},
        fingerprint=fingerprint,
        expires_at=0,
        server_time=0,
    )


def raising(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail
