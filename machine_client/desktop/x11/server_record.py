"""What a client has pressed and lent, written down in the X server's own memory.

A process that is killed cannot release anything, and a file would tell for ever what was typed.  So
the record is a property of the root window: it is written on the connection of the events and
before them, and the server takes the requests of one connection in order, so no kill comes between.
It ends with the server, as everything does that it speaks of.

Each client has a slot of its own, an atom that is two things: the property's name, and a selection
that the client owns.  The server ends the ownership together with the connection.  A slot without
an owner that still has a record is therefore one of a client that died.
"""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from Xlib import X, Xatom
from Xlib.protocol import request

from machine_client.desktop.base import InjectionUnavailable
from machine_client.desktop.x11.requests import change_property, delete_property

_NAME = "_FARHAND_INPUT_{}"
_SLOTS_AT_ONCE = 32
_MOST_SLOTS = 2048
"""As many as there can be clients of an X server."""
_LONGEST = 2048
"""Numbers of a record that are read: more than 255 buttons and 248 keycodes, all lent, need."""


@dataclass
class Record:
    """Buttons and keycodes that may be down, and what lent keycodes make without and with Shift.

    Buttons and keycodes are in the order in which they were pressed.
    """

    buttons: list[int] = field(default_factory=list)
    keycodes: list[int] = field(default_factory=list)
    lent: dict[int, tuple[int, int]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.buttons or self.keycodes or self.lent)

    def add(self, other: "Record") -> None:
        """Take in another record."""
        self.buttons += other.buttons
        self.keycodes += other.keycodes
        self.lent |= other.lent

    def pack(self) -> list[int]:
        """The record as the numbers of a property."""
        lent = [number for keycode, pair in self.lent.items() for number in (keycode, *pair)]
        return [len(self.buttons), *self.buttons, len(self.keycodes), *self.keycodes, *lent]

    @classmethod
    def unpack(cls, numbers: Iterable[int]) -> "Record":
        """What `pack` made; anybody can write a property, so other numbers are tolerated."""
        rest = list(numbers)
        buttons, rest = _counted(rest)
        keycodes, rest = _counted(rest)
        triples = zip(rest[::3], rest[1::3], rest[2::3], strict=False)
        lent = {keycode: (plain, shifted) for keycode, plain, shifted in triples if keycode < 256}
        return cls(buttons, keycodes, lent)


def _counted(numbers: list[int]) -> tuple[list[int], list[int]]:
    """The numbers that the first one counts, which are buttons or keycodes, and the rest."""
    end = 1 + (numbers[0] if numbers else 0)
    return [number for number in numbers[1:end] if 0 < number < 256], numbers[end:]


class ServerRecord:
    """This client's slot on an X server.

    ``left_behind`` is what clients that died had written; it is now in this client's record.
    Opening it waits while another program grabs the server.
    """

    def __init__(self, display: Any) -> None:
        self._display = display
        self._root = display.screen(0).root
        self._window = self._root.create_window(
            -1, -1, 1, 1, 0, X.CopyFromParent, X.InputOnly, X.CopyFromParent
        )
        self._written: list[int] = []
        self.left_behind = Record()
        # Two clients that start at once must neither take one slot nor release the same key.
        with self._grabbed():
            self._take_slot()

    def write(self, record: Record) -> None:
        """Have the server know this record from the next request on; no round trip."""
        numbers = record.pack() if record else []
        if numbers == self._written:
            return
        if numbers:
            change_property(self._display.display, self._root.id, self._slot, numbers)
        else:
            delete_property(self._display.display, self._root.id, self._slot)
        self._written = numbers

    def _take_slot(self) -> None:
        slots = list(self._slots())
        free = [slot for slot, owner in slots if owner == X.NONE]
        left = dict(zip(free, self._records(free), strict=True))
        for record in left.values():
            self.left_behind.add(record)
        self._slot = free[0] if free else self._new_slot(len(slots))
        self._window.set_selection_owner(self._slot, X.CurrentTime)
        self.write(self.left_behind)
        for slot, record in left.items():
            if record and slot != self._slot:
                self._root.delete_property(slot)

    def _slots(self) -> Iterator[tuple[int, Any]]:
        """Every slot that ever was, and the window that owns it, if any does."""
        for first in range(0, _MOST_SLOTS, _SLOTS_AT_ONCE):
            names = [_NAME.format(first + number) for number in range(_SLOTS_AT_ONCE)]
            replies = self._ask(
                request.InternAtom, [{"name": name, "only_if_exists": True} for name in names]
            )
            atoms = [reply.atom for reply in replies if reply.atom != X.NONE]
            owners = self._ask(request.GetSelectionOwner, [{"selection": atom} for atom in atoms])
            yield from zip(atoms, (reply.owner for reply in owners), strict=True)
            if len(atoms) < _SLOTS_AT_ONCE:
                return
        raise InjectionUnavailable("Too many programs of Farhand's have used this X server")

    def _new_slot(self, number: int) -> int:
        return int(self._display.intern_atom(_NAME.format(number)))

    def _records(self, slots: list[int]) -> Iterator[Record]:
        wanted = {
            "delete": False,
            "window": self._root.id,
            "type": Xatom.CARDINAL,
            "long_offset": 0,
            "long_length": _LONGEST,
        }
        for reply in self._ask(
            request.GetProperty, [{"property": slot, **wanted} for slot in slots]
        ):
            layout, numbers = reply.value or (0, ())
            yield Record.unpack(numbers if layout == 32 else ())

    def _ask(self, kind: Any, questions: list[dict[str, Any]]) -> list[Any]:
        """The replies to many requests: one round trip."""
        asked = [kind(display=self._display.display, defer=True, **each) for each in questions]
        for each in asked:
            each.reply()
        return asked

    @contextlib.contextmanager
    def _grabbed(self) -> Iterator[None]:
        self._display.grab_server()
        try:
            yield
        finally:
            self._display.ungrab_server()
            self._display.flush()
