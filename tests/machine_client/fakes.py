"""A desktop that does what each test tells it to, and a command for it."""

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

from schemas.inputs import AnyInput, MoveMouse, Operation
from schemas.outcomes import Point
from schemas.wire import Display, Input
from tests.links import LINK_ID

HERE = Point(x=1, y=2)


class FakeDesktop:
    """Notes what it is told; a test may set what else happens at each step."""

    injected = 0

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.interrupted = threading.Event()
        self.on_prepare: Callable[[], None] = lambda: None
        self.on_inject: Callable[[], None] = lambda: None

    def prepare(self, body: AnyInput) -> Callable[[], Point]:
        assert isinstance(body, MoveMouse)
        self.on_prepare()

        def inject() -> Point:
            self.calls.append(f"inject {body.x}")
            self.on_inject()
            return HERE

        return inject

    def interrupt(self) -> None:
        self.interrupted.set()

    def release_all(self) -> None:
        self.calls.append("release")

    def displays(self) -> list[Display]:
        return []

    def close(self) -> None:
        self.calls.append("close")


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


def raising(error: Exception) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail
