"""A desktop of one machine: what arrives at it, and a person who gets in the way."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import Xlib.display
from Xlib import X
from Xlib.ext import xtest

from tests.desktop import DeviceEvent, Witness, virtual_display
from tests.faults.arrivals import BUTTONS, KEYSYMS, POINTER, Arrival, Copy, Kind, Place
from tests.faults.history import Clock
from tests.faults.inputs import HEIGHT, WIDTH
from tests.held import held_on
from tests.selections import SelectionWitness

READ_EVERY_SECONDS = 1.0

_PERSONS_MARK = 8
"""A button that is down while a person presses or releases something."""

_KINDS = {
    "KeyPress": Kind.PRESS,
    "ButtonPress": Kind.PRESS,
    "KeyRelease": Kind.RELEASE,
    "ButtonRelease": Kind.RELEASE,
    "MotionNotify": Kind.MOTION,
}


class WitnessedDesktop:
    """An X server, and a witness whose events are put into words while they come.

    ``named`` and ``settings`` are how a machine client finds it.  ``has_field`` is whether a
    program there has a field to put texts into.
    """

    has_field = False

    def __init__(self, display: str, clock: Clock) -> None:
        self.display = self.named = display
        self.settings: Mapping[str, str] = {}
        self.process_id = 0
        self._clock = clock
        self._arrivals: list[Arrival] = []
        self._down: set[str] = set()
        self._is_persons = False
        self._place = Place(WIDTH // 2, HEIGHT // 2)  # where X puts the pointer
        self._witness = Witness(display)
        self._selections = SelectionWitness(display)
        self._person: Any = Xlib.display.Display(display)
        self._keycodes = {key: self._person.keysym_to_keycode(KEYSYMS[key]) for key in KEYSYMS}
        self._keys = {keycode: key for key, keycode in self._keycodes.items()}
        self._lock, self._persons_lock = threading.Lock(), threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read_often, name="desktop", daemon=True)
        self._thread.start()

    @classmethod
    @contextlib.contextmanager
    def running(cls, clock: Clock) -> Iterator["WitnessedDesktop"]:
        with (
            virtual_display(f"{WIDTH}x{HEIGHT}x24", "r") as display,
            contextlib.closing(cls(display, clock)) as desktop,
        ):
            yield desktop

    def arrivals(self) -> list[Arrival]:
        """Everything that has arrived up to now; ask when nothing is under way any more.

        X's RECORD can lose the motion that follows at once on what another program did, and the
        witness makes an event of its own here.
        """
        with self._lock:
            self._read(self._witness.take())
            return list(self._arrivals)

    def copies(self) -> list[Copy]:
        """Every text that was copied up to now."""
        return [
            Copy(each.selection, each.text, self._clock.of_x_server(each.time))
            for each in self._selections.copied()
        ]

    def held(self) -> frozenset[str]:
        """What is down now, as the X server says; what it does not tell, as the witness saw it."""
        self.arrivals()
        held = held_on(self.display)
        with self._lock:
            return (
                frozenset(self._down)
                | {BUTTONS[number] for number in held.buttons}
                | {self._key(keycode) for keycode in held.keycodes}
            )

    def press(self, what: str) -> None:
        """Press a button or key, as a person does, whom nothing tells what programs do."""
        self._do_as_person(Kind.PRESS, what)

    def release(self, what: str) -> None:
        """Release a button or key, as a person does."""
        self._do_as_person(Kind.RELEASE, what)

    def is_of_start(self, _arrival: Arrival) -> bool:
        """Whether a client makes an event of no command by itself when it starts."""
        return False

    def signal(self, number: signal.Signals) -> None:
        """Send it to the server, where its process is known."""
        assert self.process_id
        os.kill(self.process_id, number)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self._witness.close()
        self._selections.close()
        self._person.close()

    def _do_as_person(self, kind: Kind, what: str) -> None:
        is_press, is_key = kind is Kind.PRESS, what in self._keycodes
        if is_key:
            event, detail = (X.KeyPress if is_press else X.KeyRelease), self._keycodes[what]
        else:
            event = X.ButtonPress if is_press else X.ButtonRelease
            detail = next(number for number, name in BUTTONS.items() if name == what)
        with self._persons_lock:
            # In one write, so that hardly anything of others comes between.
            xtest.fake_input(self._person, X.ButtonPress, _PERSONS_MARK)
            xtest.fake_input(self._person, event, detail)
            xtest.fake_input(self._person, X.ButtonRelease, _PERSONS_MARK)
            self._person.sync()

    def _read(self, events: list[DeviceEvent]) -> None:
        for event in events:
            self._read_one(event)

    def _read_one(self, event: DeviceEvent) -> None:
        kind, place = _KINDS[event.kind], Place(event.x, event.y)
        if event.kind.startswith("Button") and event.detail == _PERSONS_MARK:
            self._is_persons = kind is Kind.PRESS
            return
        what = POINTER if kind is Kind.MOTION else self._kind_of(event)
        if kind is Kind.PRESS:
            if what in self._down:
                return  # X drops a press of what is down: this repeats a key that stays down.
            self._down.add(what)
        elif kind is Kind.RELEASE:
            self._down.discard(what)
        at = self._clock.of_x_server(event.time)
        if kind is not Kind.MOTION and place != self._place:
            # RECORD has lost how it came here; that it did is as sure.
            self._arrivals.append(Arrival(Kind.MOTION, POINTER, place, at))
        self._place = place
        is_persons = self._is_persons and kind is not Kind.MOTION
        self._arrivals.append(Arrival(kind, what, place, at, is_persons))

    def _kind_of(self, event: DeviceEvent) -> str:
        if event.kind.startswith("Key"):
            return self._key(event.detail)
        return BUTTONS.get(event.detail, f"button {event.detail}")

    def _key(self, keycode: int) -> str:
        return self._keys.get(keycode, f"keycode {keycode}")

    def _read_often(self) -> None:
        """Keep the witness's list short, however long the run is."""
        while not self._over.wait(READ_EVERY_SECONDS):
            with self._lock:
                self._read(self._witness.take_seen())
