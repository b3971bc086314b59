"""A VNC server and its far side: the X server that it is, watched as the X11 desktop's is."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from machine_client.desktop.base import Desktop
from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.desktop import VncDesktop
from machine_client.desktop.vnc.keyboard import TAKEN_FOR_OTHERS
from schemas.inputs.bodies import AnyInput
from tests.desktop import Witness, set_layout
from tests.machine_client.desktop.contract.rig import Rig, TextField
from tests.machine_client.desktop.vnc.qemu import Qemu
from tests.machine_client.desktop.vnc.xvnc import UnsteadyXvnc
from tests.machine_client.desktop.x11.rig import X11Witness
from tests.machine_client.pressing import killed_after
from tests.waiting import eventually

BUTTONS = ("left", "middle", "right")
"""TigerVNC 1.12 and QEMU 7.2 drop what is said of an eighth one."""


class VncWitness(X11Witness):
    """The same, where each program that is typed into finds the keyboard as it was at first.

    TigerVNC has room for some twenty characters that its layout lacks, and never gives one back.
    """

    @contextlib.contextmanager
    def text_field(self) -> Iterator[TextField]:
        set_layout(self.name, "us")
        with super().text_field() as field:
            yield field


@contextlib.contextmanager
def vnc_rig(display: str, port: int, witness: Witness, directory: Path) -> Iterator[Rig]:
    """A server with the layout "us"; what others hold there is not told in this protocol."""
    set_layout(display, "us")
    seen = VncWitness(display, witness, directory)

    def leave_held(*bodies: AnyInput) -> None:
        killed_after(f"127.0.0.1:{port}", *bodies, kind="vnc")
        # This server lets go of a client's keys when that is gone, and not of its buttons.
        eventually(lambda: seen.held() <= {"left"}, "the server has let go of keys")

    with contextlib.closing(seen):
        yield Rig(
            VncDesktop(VncServer("127.0.0.1", port, characters=10_000)),
            seen,
            {},
            leave_held,
            tells_left_pressed=False,
            buttons=BUTTONS,
            lacks=TAKEN_FOR_OTHERS | {"\N{REPLACEMENT CHARACTER}"},
            copied=lambda text: re.sub("\r\n?", "\n", text),
        )


class MortalVnc:
    """A VNC server that a test ends, and starts again on the same port."""

    def __init__(self, server: UnsteadyXvnc | Qemu) -> None:
        self.desktop: Desktop = VncDesktop(VncServer("127.0.0.1", server.port))
        self.start, self.kill = server.start, server.kill
