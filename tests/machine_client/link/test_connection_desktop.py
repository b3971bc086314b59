"""A desktop that comes, goes and changes, as a real websocket server is told of it."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from machine_client.desktop.base import DesktopError, InjectionUnavailable
from machine_client.link import connection, reconnecting
from machine_client.work.desktop_watch import DesktopWatch
from machine_client.work.worker import Injector
from schemas.inputs.outcomes import Failed
from schemas.link.messages import (
    Ack,
    DesktopChanged,
    Display,
    Released,
    RequestFailed,
    Screenshot,
)
from tests.machine_client.fakes import FakeView
from tests.machine_client.scripted import (
    WAIT_SECONDS,
    Line,
    QuietInjector,
    machine_client,
    move,
    now,
    played,
    scripted_server,
)
from tests.store import async_test

OFTEN = 0.05


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconnecting, "FIRST_DELAY", 0.02)


class LateDesktop:
    """A desktop that is there only when a test says so."""

    def __init__(self) -> None:
        self.is_there = False
        self.opened: list[QuietInjector] = []

    def open(self) -> Injector:
        if not self.is_there:
            raise InjectionUnavailable("there is no display :7")
        self.opened.append(QuietInjector())
        return self.opened[-1]

    def lose(self) -> None:
        """As when the X server ends: an injector that was open is of no use any more."""
        self.is_there = False
        self.opened[-1].is_lost = True


async def test_desktop_that_comes_and_goes_is_told_on_one_link(tmp_path: Path) -> None:
    desktop = LateDesktop()

    async def script(line: Line) -> None:
        hello = await line.greet()
        assert (hello.input.available, hello.input.reason) == (False, "there is no display :7")
        for is_there in (True, False, True):
            desktop.is_there = True
            if not is_there:
                desktop.lose()
            changed = await line.hear()
            assert isinstance(changed, DesktopChanged)
            assert changed.input.available is is_there
        await line.say(move())
        acknowledged = await line.hear()
        assert isinstance(acknowledged, Ack)
        assert acknowledged.outcome.status == "completed"
        assert len(server.requests) == 1

    async with (
        scripted_server(script) as server,
        machine_client(server.address, tmp_path, open_injector=desktop.open, desktop_check=OFTEN),
    ):
        await server.finished()
    assert desktop.opened[-1].calls[0] == "mouse.move"


async def test_displays_and_a_screen_that_change_are_told(tmp_path: Path) -> None:
    desktop, view = QuietInjector(), FakeView()
    wide = [Display(x=0, y=0, width=300, height=100)]

    async def script(line: Line) -> None:
        assert (await line.greet()).screen.available
        view.failure = DesktopError("screen_unavailable", "it is dark")
        desktop.displays = lambda: wide  # type: ignore[method-assign]
        changed = await line.hear()
        assert isinstance(changed, DesktopChanged)
        assert changed.displays == wide
        assert changed.input.available
        assert changed.screen.reason == "it is dark"
        view.failure = None
        changed = await line.hear()
        assert isinstance(changed, DesktopChanged)
        assert changed.screen.available

    await played(
        tmp_path, script, open_injector=lambda: desktop, open_view=view.open, desktop_check=OFTEN
    )


@pytest.mark.parametrize("failing", ["input", "picture"])
def test_failure_on_the_desktop_is_looked_after_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def seldom(*arguments: Any, **options: Any) -> DesktopWatch:
        return DesktopWatch(*arguments, **{**options, "seconds": 3600})

    # No look comes by itself while the test lasts.
    monkeypatch.setattr(connection, "DesktopWatch", seldom)
    desktop, view = QuietInjector(), FakeView()

    def refuse(_: object) -> Any:
        raise InjectionUnavailable("it is gone")

    async def script(line: Line) -> None:
        await line.greet()
        desktop.displays = list  # type: ignore[method-assign]
        if failing == "input":
            desktop.prepare = refuse  # type: ignore[method-assign, assignment]
            await line.say(move())
            acknowledged = await line.hear()
            assert isinstance(acknowledged, Ack)
            assert isinstance(acknowledged.outcome, Failed)
        else:
            view.failure = DesktopError("screen_unavailable", "it is dark")
            await line.say(Screenshot(request=1, format="png", quality=70, server_time=now()))
            assert isinstance(await line.hear(), RequestFailed)
        changed = await line.hear()
        assert isinstance(changed, DesktopChanged)
        assert (changed.displays, changed.screen.available) == ([], failing == "input")

    @async_test
    async def run() -> None:
        parts: dict[str, Any] = {"open_injector": lambda: desktop, "open_view": view.open}
        await played(tmp_path, script, **parts)

    run()


async def test_client_ends_while_its_desktop_hangs(tmp_path: Path) -> None:
    hangs, release = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def hang() -> Injector:
        loop.call_soon_threadsafe(hangs.set)
        release.wait()
        raise InjectionUnavailable("too late")

    async with machine_client("http://127.0.0.1:9", tmp_path, open_injector=hang) as client:
        async with asyncio.timeout(WAIT_SECONDS):
            await hangs.wait()
        client.cancel()
        await asyncio.gather(client, return_exceptions=True)
        assert client.cancelled()
    release.set()


async def test_hello_tells_once_what_a_killed_client_had_left_pressed(tmp_path: Path) -> None:
    desktop = QuietInjector()
    desktop.released = Released(buttons=["left"], keys=2)
    told: list[Released | None] = []

    async def script(line: Line) -> None:
        told.append((await line.greet()).released)
        await line.websocket.close(4000)

    await played(tmp_path, script, script, open_injector=lambda: desktop)
    assert told == [Released(buttons=["left"], keys=2), None]
