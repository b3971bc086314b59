"""The watch over a real X server that is killed, frozen, grabbed and resized."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from functools import partial

import pytest

from machine_client.desktop.base import (
    DesktopError,
    DesktopView,
    InjectionUnavailable,
    NoElements,
)
from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.desktop.x11.view import X11View
from machine_client.work import desktop_watch
from machine_client.work.desktop_watch import AVAILABLE, DesktopWatch, NullInjector
from machine_client.work.injector import DesktopInjector
from machine_client.work.worker import Injector
from schemas.inputs.bodies import DragMouse, MoveMouse
from schemas.inputs.outcomes import Point
from schemas.link.messages import DesktopChanged, Display
from tests.desktop import (
    UnsteadyDisplay,
    grabbed,
    resize_screen,
    unsteady_display,
)
from tests.machine_client.fakes import FakeView
from tests.machine_client.scripted import QuietInjector
from tests.waiting import WAIT_SECONDS

# python-xlib leaves a socket behind where nobody listens.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is told to hang where the machine is busy."""
    for name in ("ANSWER_SECONDS", "ELEMENTS_SECONDS"):
        monkeypatch.setattr(desktop_watch, name, 60.0)


@contextmanager
def impatient() -> Iterator[None]:
    """Wait for one second while the desktop hangs; one that does not may take longer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(desktop_watch, "ANSWER_SECONDS", 1.0)
        yield


@pytest.fixture
def server() -> Iterator[UnsteadyDisplay]:
    """An X server of the test's own."""
    with unsteady_display() as display:
        yield display


class Desk:
    """A watch that is looked through by hand, and what it has opened and told."""

    def __init__(
        self,
        open_injector: Callable[[], Injector],
        open_view: Callable[[], DesktopView] | None = None,
        try_screen: Callable[[], None] | None = None,
        seconds: float = 1.5,
    ) -> None:
        self.opened: list[Injector] = []
        self.told: list[DesktopChanged] = []
        self.heard = asyncio.Event()
        self.watch = DesktopWatch(
            open_injector,
            open_view,
            try_screen,
            seconds=seconds,
            use=self.opened.append,
            tell=self._tell,
        )

    def _tell(self, state: DesktopChanged) -> None:
        self.told.append(state)
        self.heard.set()

    async def look(self) -> tuple[bool, bool]:
        """Look once; whether input and the screen are available now."""
        await self.watch.look()
        state = self.watch.state
        return state.input.available, state.screen.available

    async def move(self) -> Point:
        """Move the pointer with the injector that was opened last."""
        begin = self.opened[-1].prepare(MoveMouse(x=3, y=4))
        return await asyncio.to_thread(begin)


def picture(display: str) -> None:
    with closing(X11View(display)) as view:
        view.capture()


@asynccontextmanager
async def desk_at(display: str) -> AsyncIterator[Desk]:
    """A desk on an X display, whose injectors are closed at its end."""
    desk = Desk(
        partial(DesktopInjector, X11Desktop(display)),
        partial(X11View, display),
        partial(picture, display),
    )
    try:
        yield desk
    finally:
        await desk.watch.stop()
        for injector in desk.opened:
            injector.close()


async def test_display_that_is_killed_and_comes_back_is_seen_without_an_input(
    server: UnsteadyDisplay,
) -> None:
    async with desk_at(server.name) as desk:
        assert await desk.look() == (True, True)
        server.kill()
        assert await desk.look() == (False, False)
        gone = desk.watch.state
        assert gone.displays == []
        assert server.name in (gone.input.reason or "")
        assert "screen" in (gone.screen.reason or "")
        assert await desk.look() == (False, False)
        assert len(desk.told) == 2
        server.start()
        assert await desk.look() == (True, True)
        assert [display.width for display in desk.watch.state.displays] == [1280]
        assert len(desk.opened) == 2
        assert await desk.move() == Point(x=3, y=4)


async def test_display_that_came_back_between_two_looks_gets_another_injector(
    server: UnsteadyDisplay,
) -> None:
    async with desk_at(server.name) as desk:
        await desk.look()
        server.kill()
        server.start()
        assert await desk.look() == (True, True)
        assert len(desk.told) == 1
        assert await desk.move() == Point(x=3, y=4)


async def test_frozen_server_is_seen_and_costs_no_further_threads(server: UnsteadyDisplay) -> None:
    async with desk_at(server.name) as desk:
        await desk.look()
        server.freeze()
        before = threading.active_count()
        with impatient():
            for _ in range(3):
                assert await desk.look() == (False, False)
        assert threading.active_count() <= before + 1
        assert "has not answered for 1 s" in (desk.watch.state.input.reason or "")
        assert desk.watch.state.displays
        server.thaw()
        assert await desk.look() == (True, True)
        assert len(desk.opened) == 1
        assert len(desk.told) == 3


async def test_server_that_is_killed_while_it_is_frozen_is_found_again(
    server: UnsteadyDisplay,
) -> None:
    async with desk_at(server.name) as desk:
        await desk.look()
        server.freeze()
        with impatient():
            assert await desk.look() == (False, False)
        server.kill()
        server.start()
        assert await desk.look() == (True, True)
        assert await desk.move() == Point(x=3, y=4)


async def test_grabbed_server_shows_nothing_and_takes_input_all_the_same(
    server: UnsteadyDisplay,
) -> None:
    async with desk_at(server.name) as desk:
        await desk.look()
        with grabbed(server.name), impatient():
            async with asyncio.timeout(WAIT_SECONDS):
                while (seen := await desk.look()) != (True, False):
                    # On a busy machine the pointer's place may come too late for this impatience.
                    assert seen == (False, False)
            assert "has grabbed the desktop" in (desk.watch.state.screen.reason or "")
            assert desk.watch.state.displays
            assert await desk.move() == Point(x=3, y=4)
        assert await desk.look() == (True, True)
        assert len(desk.opened) == 1


async def test_server_that_is_grabbed_from_the_beginning_is_opened_afterwards(
    server: UnsteadyDisplay,
) -> None:
    async with desk_at(server.name) as desk:
        with grabbed(server.name), impatient():
            assert await desk.look() == (False, False)
            assert "another program holds it" in (desk.watch.state.input.reason or "")
        assert await desk.look() == (True, True)
        assert await desk.move() == Point(x=3, y=4)


async def test_display_that_gets_another_size_is_told(server: UnsteadyDisplay) -> None:
    async with desk_at(server.name) as desk:
        await desk.look()
        resize_screen(server.name, 800, 600)
        assert await desk.look() == (True, True)
        (display,) = desk.told[-1].displays
        assert (display.width, display.height) == (800, 600)
        assert len(desk.told) == 2


async def test_looks_do_not_disturb_a_drag_and_are_not_disturbed_by_it(
    server: UnsteadyDisplay,
) -> None:
    async with desk_at(server.name) as desk:
        await desk.look()
        drag = DragMouse(start_x=0, start_y=0, to_x=900, to_y=700, duration=1.5)
        looks = 0
        while looks < 2:  # On a busy machine a look may take as long as a drag.
            dragging = asyncio.create_task(asyncio.to_thread(desk.opened[0].prepare(drag)))  # noqa: TID251
            while not dragging.done():
                assert await desk.look() == (True, True)
                looks += 1
                await asyncio.sleep(0.02)
            assert await dragging == Point(x=900, y=700)
        assert len(desk.told) == 1


async def test_injector_that_has_lost_its_connection_alone_is_replaced() -> None:
    desk = Desk(QuietInjector)
    assert await desk.look() == (True, False)
    lost = desk.opened[0]
    assert isinstance(lost, QuietInjector)
    lost.is_lost = True
    assert await desk.look() == (True, False)
    assert len(desk.opened) == 2


async def test_desktop_that_cannot_be_opened_is_tried_at_every_look() -> None:
    tries = 0

    def open_injector() -> Injector:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise InjectionUnavailable(f"there is none at try {tries}")
        return QuietInjector()

    desk = Desk(open_injector)
    for expected in (False, False, True, True):
        assert (await desk.look())[0] is expected
    assert [state.input.reason for state in desk.told] == [
        "there is none at try 1",
        "there is none at try 2",
        None,
    ]
    assert tries == 3


async def test_picture_is_taken_only_where_it_may_fail_now() -> None:
    view = FakeView()
    desktop = QuietInjector()

    def take() -> None:
        view.capture()

    desk = Desk(lambda: desktop, try_screen=take)
    for _ in range(3):
        assert await desk.look() == (True, True)
    assert view.captures == 1
    desk.watch.look_soon()
    await desk.look()
    assert view.captures == 2
    desktop.displays = list  # type: ignore[method-assign]  # as where they cannot be told
    view.failure = DesktopError("screen_unavailable", "it is dark")
    for _ in range(2):
        assert await desk.look() == (True, False)
    assert desk.watch.state.screen.reason == "it is dark"
    assert view.captures == 4


async def test_screen_that_its_owner_switched_off_is_not_looked_at() -> None:
    desk = Desk(QuietInjector)
    await desk.look()
    (state,) = desk.told
    assert (state.screen.available, state.screen.switched_off) == (False, True)
    assert "its owner lets nobody look" in (state.screen.reason or "")
    assert state.displays == [Display(x=0, y=0, width=100, height=100)]


async def test_mistake_of_ours_is_a_reason_and_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail() -> Injector:
        raise ZeroDivisionError

    desk = Desk(fail, try_screen=fail)  # type: ignore[arg-type]
    for _ in range(3):
        assert await desk.look() == (False, False)
    assert desk.watch.state.input.reason == "the machine client made a mistake (ZeroDivisionError)"
    assert desk.watch.state.screen.reason == desk.watch.state.input.reason
    assert sum(record.exc_info is not None for record in caplog.records) == 2


async def test_displays_that_cannot_be_told_by_mistake_do_not_end_the_looks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    desktop = QuietInjector()

    def fail() -> list[Display]:
        raise AssertionError  # as mss does where the X server gives no answer

    desktop.displays = fail  # type: ignore[method-assign]
    desk = Desk(lambda: desktop)
    for _ in range(3):
        assert await desk.look() == (True, False)
    assert desk.watch.state.displays == []
    assert sum(record.exc_info is not None for record in caplog.records) == 1


async def test_watch_looks_by_itself_and_at_once_where_something_failed() -> None:
    desktop = QuietInjector()
    desk = Desk(lambda: desktop, seconds=0.05)
    running = asyncio.create_task(desk.watch.run())  # noqa: TID251
    for width in (1, 2, 3):
        desk.heard.clear()
        desktop.displays = lambda width=width: [  # type: ignore[method-assign, misc]
            Display(x=0, y=0, width=width, height=1)
        ]
        desk.watch.look_soon()
        async with asyncio.timeout(WAIT_SECONDS):
            await desk.heard.wait()
    running.cancel()
    assert [state.displays[0].width for state in desk.told][-3:] == [1, 2, 3]


def test_absent_desktop_refuses_and_holds_nothing() -> None:
    absent = NullInjector()
    with pytest.raises(InjectionUnavailable, match="no desktop"):
        absent.prepare(MoveMouse(x=1, y=1))
    absent.interrupt()
    absent.release_all()
    absent.close()
    assert absent.displays() == []
    assert AVAILABLE.available


def _no_injector() -> Injector:
    raise InjectionUnavailable("no desktop")


class ToldElements(NoElements):
    """Elements that a test switches on and off."""

    def __init__(self) -> None:
        super().__init__("there is no accessibility bus")
        self.are_told = False
        self.mistake: Exception | None = None

    def why_none(self) -> str | None:
        if self.mistake is not None:
            raise self.mistake
        return None if self.are_told else super().why_none()


async def test_elements_come_and_go_while_the_desktop_stays() -> None:
    elements = ToldElements()
    told: list[DesktopChanged] = []
    watch = DesktopWatch(
        _no_injector,
        None,
        None,
        seconds=1.5,
        use=lambda _: None,
        tell=told.append,
        elements=elements,
    )
    await watch.look()
    assert watch.state.elements.reason == "there is no accessibility bus"
    elements.are_told = True
    await watch.look()
    elements.mistake = ZeroDivisionError()
    await watch.look()
    assert [each.elements.available for each in told] == [False, True, False]
    assert "ZeroDivisionError" in str(told[-1].elements.reason)
    await watch.stop()


async def test_elements_that_nobody_may_see_are_switched_off() -> None:
    watch = DesktopWatch(
        _no_injector,
        None,
        None,
        seconds=1.5,
        use=lambda _: None,
        tell=lambda _: None,
    )
    await watch.look()
    assert watch.state.elements.switched_off
