"""A VNC server and its far side: the X server that it is, watched as the X11 desktop's is."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from machine_client.desktop.base import Desktop
from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.desktop import VncDesktop
from schemas.inputs.bodies import AnyInput
from tests.desktop import Witness, eventually, set_layout
from tests.machine_client.desktop.contract.rig import Rig
from tests.machine_client.desktop.vnc.xvnc import UnsteadyXvnc
from tests.machine_client.desktop.x11.rig import X11Witness
from tests.machine_client.pressing import killed_after


@contextlib.contextmanager
def vnc_rig(display: str, port: int, witness: Witness, directory: Path) -> Iterator[Rig]:
    """A server with the layout "us"; what others hold there is not told in this protocol."""
    set_layout(display, "us")
    seen = X11Witness(display, witness, directory)

    def leave_held(*bodies: AnyInput) -> None:
        killed_after(f"127.0.0.1:{port}", *bodies, kind="vnc")
        # This server lets go of what a client holds that is gone.
        eventually(lambda: not seen.held(), "the server has let go")

    try:
        yield Rig(VncDesktop(VncServer("127.0.0.1", port)), seen, {}, leave_held)
    finally:
        seen.close()


class MortalVnc:
    """A VNC server that a test ends, and starts again on the same port."""

    def __init__(self, server: UnsteadyXvnc) -> None:
        self.desktop: Desktop = VncDesktop(VncServer("127.0.0.1", server.port))
        self.start, self.kill = server.start, server.kill
