"""The desktops of a fault run: an X server, or one that is driven through VNC or Wayland."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal, Protocol, get_args

from tests.desktop import set_layout
from tests.faults.arrivals import BUTTONS, KEYSYMS, POINTER, Arrival, Copy, Kind, Place
from tests.faults.desktop_with_field import DesktopWithField
from tests.faults.history import Clock
from tests.faults.inputs import HEIGHT, WIDTH
from tests.faults.witnessed_desktop import READ_EVERY_SECONDS, WitnessedDesktop
from tests.machine_client.desktop.contract.rig import Seen
from tests.machine_client.desktop.vnc.xvnc import xvnc
from tests.machine_client.desktop.wayland.compositor import Sway, sway
from tests.machine_client.desktop.wayland.rig import WaylandWitness

DesktopName = Literal["x11", "vnc", "wayland"]
DESKTOPS: Sequence[DesktopName] = get_args(DesktopName)

_KINDS = {"move": Kind.MOTION, "down": Kind.PRESS, "up": Kind.RELEASE}


class AnyDesktop(Protocol):
    """See `tests.faults.witnessed_desktop.WitnessedDesktop`."""

    @property
    def named(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, str]: ...

    @property
    def has_field(self) -> bool: ...

    def arrivals(self) -> list[Arrival]: ...

    def copies(self) -> list[Copy]: ...

    def held(self) -> frozenset[str]: ...

    def press(self, what: str) -> None: ...

    def release(self, what: str) -> None: ...

    def is_of_start(self, arrival: Arrival) -> bool: ...

    def signal(self, number: signal.Signals) -> None: ...


@contextlib.contextmanager
def running_desktop(
    name: DesktopName, clock: Clock, directory: Path, *, has_field: bool = False
) -> Iterator[AnyDesktop]:
    """One that is ended with the block; of X servers one may have a field."""
    if name == "x11" and has_field:
        with DesktopWithField.running(clock) as desktop:
            yield desktop
    elif name == "x11":
        with WitnessedDesktop.running(clock) as desktop:
            yield desktop
    elif name == "vnc":
        with WitnessedVnc.running(clock) as server:
            yield server
    else:
        with WitnessedWayland.running(clock, directory) as compositor:
            yield compositor


class WitnessedVnc(WitnessedDesktop):
    """A VNC server, watched as the X server that it is too."""

    @classmethod
    @contextlib.contextmanager
    def running(cls, clock: Clock) -> Iterator["WitnessedVnc"]:
        with xvnc(size=f"{WIDTH}x{HEIGHT}") as (display, port, process):
            set_layout(display, "us")
            desktop = cls(display, clock)
            desktop.process_id = process.pid
            desktop.named, desktop.settings = "", {"vnc": f"127.0.0.1:{port}"}
            with contextlib.closing(desktop):
                yield desktop

    def arrivals(self) -> list[Arrival]:
        """Everything that its clients have brought about up to now."""
        return without_letting_go(super().arrivals())

    def is_of_start(self, arrival: Arrival) -> bool:
        """A client cannot ask where the pointer is, and puts it in the middle."""
        middle = Place(WIDTH // 2, HEIGHT // 2)
        return arrival.kind is Kind.MOTION and arrival.place == middle


def without_letting_go(arrivals: Sequence[Arrival]) -> list[Arrival]:
    """Without the motions by which TigerVNC lets go of the buttons of a client that is gone.

    Since 1.14 it does so where it last noted that the pointer was.  After it has stood still, and
    then read all that the client had sent, that is behind the times: a place that was left before.
    """
    left_before = set[Place]()
    own = []
    for arrival, following in pairwise([*arrivals, None]):
        assert arrival is not None
        goes_up_there = (
            following is not None
            and following.kind is Kind.RELEASE
            and following.what in BUTTONS.values()
            and following.place == arrival.place
        )
        is_behind = arrival.kind is Kind.MOTION and arrival.place in left_before
        if not (goes_up_there and is_behind):
            own.append(arrival)
        left_before.add(arrival.place)
    return own


class WitnessedWayland:
    """A compositor, and a witness on it; nobody sits at it, and no texts are told."""

    has_field = False

    def __init__(self, compositor: Sway, witness: WaylandWitness, clock: Clock) -> None:
        self.named = compositor.name
        self._compositor = compositor
        self.settings: Mapping[str, str] = {}
        self._witness = witness
        self._clock = clock
        self._arrivals: list[Arrival] = []
        self._lock, self._over = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._read_often, name="desktop", daemon=True)
        self._thread.start()

    @classmethod
    @contextlib.contextmanager
    def running(cls, clock: Clock, directory: Path) -> Iterator["WitnessedWayland"]:
        with sway() as compositor:
            witness = WaylandWitness(compositor, directory)
            with contextlib.closing(cls(compositor, witness, clock)) as desktop:
                yield desktop

    def arrivals(self) -> list[Arrival]:
        """Everything that has arrived up to now."""
        with self._lock:
            for seen in self._witness.take():
                self._arrivals += self._told(seen)
            return list(self._arrivals)

    def copies(self) -> list[Copy]:
        """The witness knows of none."""
        return []

    def held(self) -> frozenset[str]:
        """What is down now, as programs are told."""
        with self._lock:
            return self._witness.held()

    def press(self, what: str) -> None:
        raise NotImplementedError(what)

    release = press

    def is_of_start(self, arrival: Arrival) -> bool:
        """A button is on record before it is pressed.

        Where a kill comes between, or to a client whose compositor stands still and then drops what
        it has not read, the next one releases what is up.
        """
        return arrival.kind is Kind.RELEASE and arrival.what in BUTTONS.values()

    def signal(self, number: signal.Signals) -> None:
        """Send it to the compositor."""
        os.kill(self._compositor.process_id, number)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self._witness.close()

    def _told(self, seen: Seen) -> Iterator[Arrival]:
        place, at = Place(seen.x, seen.y), self._clock.of_x_server(int(seen.at * 1000))
        if seen.action == "wheel":
            # Elsewhere a notch is the press and the release of a button.
            for kind in (Kind.PRESS, Kind.RELEASE):
                yield Arrival(kind, f"wheel {min(seen.names)}", place, at)
        elif seen.action == "move":
            yield Arrival(Kind.MOTION, POINTER, place, at)
        else:
            known = seen.names & {*KEYSYMS}
            yield Arrival(_KINDS[seen.action], min(known or seen.names), place, at)

    def _read_often(self) -> None:
        """Keep the witness's list short, however long the run is."""
        while not self._over.wait(READ_EVERY_SECONDS):
            self.arrivals()
