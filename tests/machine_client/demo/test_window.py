"""The demo's window as a process on a display of its own, with input by somebody else."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from mss import MSS
from Xlib import XK, X

from machine_client.demo.painter import COLOURS
from machine_client.demo.window import key_name, keysym_index, modifier_name
from tests.desktop import set_layout, somebody_else, virtual_display
from tests.processes import Program
from tests.processes import running as running_program
from tests.waiting import eventually


class Window:
    def __init__(self, display: str, program: Program) -> None:
        self.display, self._program = display, program

    def sees(self, *lines: str) -> None:
        """Wait until it has told of these last, in this order."""
        eventually(
            lambda: self._program.output.splitlines()[-len(lines) :] == list(lines),
            f"{lines} in {self._program.output!r}",
        )

    def shows(self, x: int, y: int, colour: str) -> None:
        """Wait until a pixel has a colour."""
        wanted = tuple(bytes.fromhex(COLOURS[colour][1:]))
        with MSS(display=self.display) as source:
            area = {"left": x, "top": y, "width": 1, "height": 1}
            eventually(lambda: source.grab(area).pixel(0, 0) == wanted, f"{colour} at {x}, {y}")

    def do(self, command: str) -> None:
        somebody_else(self.display, *command.split())


@pytest.fixture
def window(tmp_path: Path) -> Iterator[Window]:
    log = tmp_path / "window.log"
    with virtual_display() as display:
        set_layout(display, "us")
        module = ("-m", "machine_client.demo.window")
        with running_program(log, {}, "python", *module, "--display", display) as program:
            program.says("open\n")
            yield Window(display, program)


def test_drag_is_a_line_in_its_buttons_colour(window: Window) -> None:
    window.shows(450, 305, "sheet")
    window.do("mousemove 110 305 mousedown 3 mousemove 450 305 mousemove 790 305 mouseup 3")
    window.sees("open", "drag right 110,305 to 790,305")
    for x in (200, 450, 700):
        window.shows(x, 305, "right")


def test_click_is_a_mark_in_its_buttons_colour(window: Window) -> None:
    window.do("mousemove 310 310 click --repeat 2 --delay 5 2")
    window.sees("open", "click middle 310,310", "click middle 310,310")
    window.do("mousemove 600 600")
    window.shows(310, 310, "middle")


def test_notches_are_told_one_by_one(window: Window) -> None:
    window.do("click --repeat 2 4 click 7")
    window.sees("open", "scroll up", "scroll up", "scroll right")


def test_keys_are_told_with_their_modifiers(window: Window) -> None:
    window.do("key ctrl+a H i exclam Return ctrl+shift+t")
    window.sees("open", "key ctrl+a", "key H", "key i", "key !", "key enter", "key ctrl+shift+t")


def test_keys_follow_a_change_of_the_layout(window: Window) -> None:
    set_layout(window.display, "de")
    window.do("key odiaeresis at")
    window.sees("key ö", "key @")


def test_display_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    command = ("python", "-m", "machine_client.demo.window", "--display", ":4711")
    with running_program(tmp_path / "window.log", {}, *command) as program:
        assert program.ends() == 1
        assert program.output.startswith("Error: the display cannot be used: ")
        assert program.output.count("\n") == 1


def test_display_that_ends_is_told_in_a_sentence(tmp_path: Path) -> None:
    with ExitStack() as ending:
        display = ending.enter_context(virtual_display())
        command = ("python", "-m", "machine_client.demo.window", "--display", display)
        with running_program(tmp_path / "window.log", {}, *command) as program:
            program.says("open\n")
            ending.close()
            assert program.ends() == 1
            assert "Error: the display cannot be used: " in program.output
            assert "Traceback" not in program.output


@pytest.mark.parametrize(
    ("keysym", "name"),
    [
        (XK.XK_a, ("a", True)),
        (XK.XK_odiaeresis, ("ö", True)),
        (0x010020AC, ("€", True)),
        (XK.XK_space, ("space", False)),
        (XK.XK_Return, ("enter", False)),
        (XK.XK_Page_Up, ("page up", False)),
        (XK.XK_F12, ("f12", False)),
        (0, ("", False)),
    ],
)
def test_keys_have_names_for_people(keysym: int, name: tuple[str, bool]) -> None:
    assert key_name(keysym) == name


def test_modifiers_of_both_sides_have_one_name() -> None:
    names = [modifier_name(keysym) for keysym in (XK.XK_Shift_L, XK.XK_Shift_R, XK.XK_a)]
    assert names == ["shift", "shift", None]


def test_state_chooses_the_keysym() -> None:
    second_group = 1 << 13
    states = (0, X.ShiftMask, second_group, second_group | X.ShiftMask, X.Mod5Mask)
    assert [keysym_index(state) for state in states] == [0, 1, 2, 3, 4]
