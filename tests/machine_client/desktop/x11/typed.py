"""What is typed on an X display, by its injector, and as a witness and a program there see it."""

from machine_client.work.injector import DesktopInjector
from schemas.inputs.bodies import PressKeys
from tests.desktop import (
    Terminal,
    Witness,
)
from tests.held import x_display

MENU_KEYCODE = 135
SHIFT, CAPS, CTRL, NUM, ALTGR = 1, 2, 4, 16, 128


def press(injector: DesktopInjector, text: str, *, down: bool | None = None) -> None:
    injector.prepare(PressKeys(text=text, down=down))()


def type_characters(injector: DesktopInjector, characters: str) -> None:
    press(injector, " ".join("space" if each == " " else each for each in characters))


def received(injector: DesktopInjector, terminal: Terminal) -> str:
    """Everything that the terminal's program got since this was last asked.

    F9 is typed to know where it ends.
    """
    press(injector, "f9")
    return terminal.typed_before("\x1b[20~")


def told(witness: Witness) -> list[str]:
    return [str(event) for event in witness.take()]


def presses(witness: Witness) -> list[tuple[int, int]]:
    """The keycode of each key pressed, with the modifiers in force just before."""
    return [(event.detail, event.state) for event in witness.take() if event.kind == "KeyPress"]


def modifiers(display: str) -> int:
    with x_display(display) as connection:
        return int(connection.screen().root.query_pointer().mask)
