"""The desktops beside X11 as tests of the whole use them: how a machine joins one, and a witness.

Each can be killed, frozen and started again at the same place.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

from tests.desktop import Witness as RecordWitness
from tests.desktop import set_layout
from tests.end_to_end.shortcuts import terminal_of_sway, terminal_of_x
from tests.end_to_end.system import Workstation
from tests.machine_client.desktop.contract.rig import Witness
from tests.machine_client.desktop.vnc.xvnc import UnsteadyXvnc, keeps_buttons
from tests.machine_client.desktop.wayland.compositor import Sway, sway
from tests.machine_client.desktop.wayland.rig import WaylandWitness
from tests.machine_client.desktop.x11.rig import X11Witness
from tests.waiting import WAIT_SECONDS, eventually

Name = Literal["wayland", "vnc"]

KINDS: tuple[Name, ...] = ("wayland", "vnc")


class Mortal(Protocol):
    """The program that is a desktop."""

    def start(self) -> None: ...

    def kill(self) -> None: ...

    def signal(self, number: signal.Signals) -> None: ...


@dataclass
class OtherDesktop:
    """A desktop that runs.

    ``named`` are the settings by which a machine client finds it, besides its ``display``.
    ``watched`` makes a witness of it, and on what ``terminal_at_shortcut`` makes of it, ctrl+alt+t
    shows a terminal.  ``tells_left_pressed`` is whether a client tells what an
    earlier one had left pressed, ``lets_go_at`` where it does that, if not where the pointer is;
    ``keeps_buttons`` whether there is any such thing.
    """

    name: Name
    display: str
    program: Mortal
    watched: Callable[[], AbstractContextManager[Witness]]
    terminal_at_shortcut: Callable[[Path], AbstractContextManager[None]]
    tells_left_pressed: bool
    lets_go_at: tuple[int, int] | None = None
    keeps_buttons: bool = True
    named: Mapping[str, str] = field(default_factory=dict)

    def machine(self, workstation: Workstation) -> Workstation:
        """A machine that is on this desktop."""
        settings = {**workstation.settings, **self.named}
        return replace(workstation, display=self.display, settings=settings)

    def freeze(self) -> None:
        """Let it answer nobody, and end no connection."""
        self.program.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self.program.signal(signal.SIGCONT)


@contextlib.contextmanager
def running(name: Name, directory: Path) -> Iterator[OtherDesktop]:
    """One of 1280 x 800 pixels that is ended with the block."""
    start = _wayland if name == "wayland" else _vnc
    with start(directory) as desktop:
        yield desktop


@contextlib.contextmanager
def _wayland(directory: Path) -> Iterator[OtherDesktop]:
    with sway() as compositor:

        @contextlib.contextmanager
        def watched() -> Iterator[Witness]:
            with closing(WaylandWitness(compositor, directory)) as witness:
                yield witness

        yield OtherDesktop(
            "wayland",
            compositor.name,
            _Sway(compositor),
            watched,
            partial(terminal_of_sway, compositor),
            tells_left_pressed=True,
        )


@contextlib.contextmanager
def _vnc(directory: Path) -> Iterator[OtherDesktop]:
    server = UnsteadyXvnc()

    @contextlib.contextmanager
    def watched() -> Iterator[Witness]:
        set_layout(server.display, "us")
        record = RecordWitness(server.display)
        witness = X11Witness(server.display, record, directory)
        try:
            yield witness
        finally:
            witness.close()
            record.close()

    server.start()
    try:
        with watched() as witness:
            keeps = keeps_buttons(server.port, witness.held)
        yield OtherDesktop(
            "vnc",
            "",
            _Xvnc(server),
            watched,
            partial(terminal_of_x, server.display),
            tells_left_pressed=False,
            # A button needs a place, and this server does not say where the pointer is.
            lets_go_at=(640, 400),
            keeps_buttons=keeps,
            named={"vnc": f"127.0.0.1:{server.port}"},
        )
    finally:
        server.kill()


class _Sway:
    def __init__(self, compositor: Sway) -> None:
        self.start, self.kill = compositor.start, compositor.kill
        self._compositor = compositor

    def signal(self, number: signal.Signals) -> None:
        os.killpg(self._compositor.process_id, number)


class _Xvnc:
    def __init__(self, server: UnsteadyXvnc) -> None:
        self.start, self.kill = server.start, server.kill
        self._server = server

    def signal(self, number: signal.Signals) -> None:
        assert self._server.process is not None
        self._server.process.send_signal(number)


def holds_only(witness: Witness, *names: str) -> None:
    """Wait until exactly this is down: a server notices the end of a client when it comes to it."""
    eventually(lambda: witness.held() == {*names}, f"{names or 'nothing'} is held")


def sees(witness: Witness, count: int) -> None:
    """Wait until so many events have come, and leave them seen."""

    def come() -> bool:
        # Each look has what has come by then: no witness tells more without being asked.
        return len(witness.seen()) >= count

    eventually(come, f"{count} events within {WAIT_SECONDS:g} s")
