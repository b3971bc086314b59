"""Elements on sway, which tells where windows are: with places, as long as all is told."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

import pytest

from machine_client.desktop.accessibility.elements import AtSpiElements
from machine_client.desktop.base import DesktopError, Refusal
from machine_client.desktop.wayland.desktop import WaylandDesktop
from machine_client.desktop.wayland.sway import ipc
from machine_client.work.injector import DesktopInjector
from schemas.inputs.bodies import ClickMouse
from schemas.inputs.outcomes import Point
from schemas.inputs.selectors import Selector, Sought
from tests.elements.stages import OnSway
from tests.machine_client.desktop.accessibility.rig import (
    Program,
    accessible_desktop,
    patience_with_programs,
)
from tests.machine_client.desktop.wayland.compositor import ONE_SCREEN, Sway, sway
from tests.waiting import WAIT_SECONDS, eventually

SAVE = Selector(role="push button", name="Save")
AGREE = Selector(role="check box", name="Agree")
TITLE = "Invoice 7"

CONNECTED = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); input()"
"""A program that may draw anything, and has no window."""


@dataclass
class Shown:
    """A program on sway, and what is told of it."""

    compositor: Sway
    stage: OnSway
    program: Program
    elements: AtSpiElements

    def click(self) -> str:
        """Click the button, or say with what words that is refused."""
        injector = DesktopInjector(self.stage.desktop, elements=self.elements)
        with closing(injector):
            try:
                injector.prepare(ClickMouse(element=SAVE))()
            except (Refusal, DesktopError) as refused:
                return str(refused)
            self.program.hears("clicked Save")
        return ""

    @contextmanager
    def foot(self, title: str) -> Iterator[None]:
        """A terminal, which tells of no elements, in the place and above the program."""
        environment = {**self.stage.accessible.environment, "LC_ALL": "C.UTF-8"}
        with killed(["foot", "--title", title, "--app-id", "foot", "sleep", "600"], environment):
            eventually(lambda: self.compositor.has_focus("foot"), "the terminal is there")
            yield


@contextmanager
def killed(command: list[str], environment: dict[str, str]) -> Iterator[None]:
    """A process, until the end of the block."""
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE) as process:
        try:
            yield
        finally:
            process.kill()


@pytest.fixture(scope="module")
def stage() -> Iterator[tuple[Sway, OnSway]]:
    """A sway of these tests alone, as nothing else may be on it."""
    with ExitStack() as stack:
        stack.enter_context(patience_with_programs())
        stack.enter_context(pytest.MonkeyPatch.context()).setattr(ipc, "SECONDS", WAIT_SECONDS)
        accessible = stack.enter_context(accessible_desktop())
        compositor = stack.enter_context(sway())
        stack.enter_context(compositor.told_of())
        yield compositor, OnSway(accessible, compositor)


@pytest.fixture(scope="module", params=["gtk3", "qt5"])
def shown(request: pytest.FixtureRequest, stage: tuple[Sway, OnSway]) -> Iterator[Shown]:
    """A program of either toolkit, which floats."""
    compositor, on = stage
    with getattr(on.accessible, request.param)() as program:
        on.move(TITLE, 100, 120)
        there = Shown(compositor, on, program, on.accessible.elements)
        eventually(lambda: there.elements.sight(AGREE)[1], "it has drawn itself in its new size")
        yield there


def test_button_is_pressed_where_it_is(shown: Shown) -> None:
    for x, y in ((100, 120), (300, 40)):
        shown.stage.move(TITLE, x, y)
        assert shown.click() == ""
    (listed,) = shown.elements.listed(Sought(name="Agree"), at=None, limit=9, depth=None).elements
    assert listed.bounds is not None
    at = Point(x=listed.bounds.x + 9, y=listed.bounds.y + 9)
    here = shown.elements.listed(Sought(), at=at, limit=9, depth=None).elements
    assert (here[0].role, here[0].name) == ("check box", "Agree")


def test_button_is_pressed_on_scaled_screens_that_lie_anywhere(shown: Shown) -> None:
    shown.compositor.tell("output HEADLESS-1 scale 1.5 position 500 300")
    try:
        assert shown.click() == ""
    finally:
        shown.compositor.tell(ONE_SCREEN)


def test_what_lies_above_covers_it(shown: Shown) -> None:
    with shown.foot("Above"):
        # The program has the keyboard, and cannot have a menu open over it that nobody tells of.
        assert "does not tell whether it has a menu open" in shown.click()
        for above in ("floating enable", "fullscreen enable"):
            shown.compositor.tell(f'[title="Above"] {above}')
            assert (
                shown.elements.listed(
                    Sought(), at=Point(x=500, y=400), limit=9, depth=None
                ).elements
                == ()
            )
            assert shown.click() != ""
        assert shown.program.said == []
    eventually(lambda: shown.click() == "", "it is uncovered")


def test_open_menu_that_sway_does_not_tell_of_covers_all(shown: Shown) -> None:
    file = Selector(name="File", window=TITLE)
    assert shown.click() == ""
    injector = DesktopInjector(shown.stage.desktop, elements=shown.elements)
    with closing(injector):
        injector.prepare(ClickMouse(element=file))()
        eventually(lambda: "has a menu open" in shown.click(), "the menu is open")
        injector.prepare(ClickMouse(x=1200, y=780))()
    eventually(lambda: shown.click() == "", "the menu is closed")


def test_program_that_may_draw_without_a_window_is_named(shown: Shown) -> None:
    command = [sys.executable, "-c", CONNECTED, shown.compositor.name]
    with killed(command, shown.stage.accessible.environment):
        eventually(lambda: "may lay something over windows" in shown.click(), "it is connected")
        elements = shown.elements
        with pytest.raises(DesktopError, match=r"python.* may lay something") as raised:
            elements.find(SAVE, place=True)
        assert raised.value.code == "elements_unavailable"
        assert "element.invoke" in str(raised.value)
        elements.invoke(elements.find(SAVE, place=False))
        shown.program.hears("clicked Save")
    eventually(lambda: shown.click() == "", "it is gone")


def test_sway_that_does_not_answer_is_waited_for_a_moment(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown.compositor.freeze()
    monkeypatch.setattr(ipc, "SECONDS", 1.0)
    try:
        with pytest.raises(DesktopError, match="does not answer on its own socket"):
            shown.elements.find(SAVE, place=True)
        (seen,) = shown.elements.listed(Sought(name="Save"), at=None, limit=9, depth=None).elements
        assert (seen.role, seen.bounds) == ("push button", None)
    finally:
        shown.compositor.thaw()


def test_compositor_without_a_socket_of_sways_has_no_places(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SWAYSOCK")
    elements = WaylandDesktop(shown.compositor.name).elements()
    assert elements.why_none() is None
    (seen,) = elements.listed(Sought(name="Save"), at=None, limit=9, depth=None).elements
    assert (seen.role, seen.bounds) == ("push button", None)
    with pytest.raises(DesktopError, match=r"no socket of sway's own .*element\.invoke") as raised:
        elements.find(SAVE, place=True)
    assert raised.value.code == "elements_unavailable"
    elements.close()
