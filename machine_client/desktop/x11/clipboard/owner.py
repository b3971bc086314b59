"""Owns the selections of an X server, which are its clipboards."""

import contextlib
from dataclasses import dataclass
from typing import Any, Final

import Xlib.error
import Xlib.protocol.event
import Xlib.protocol.rq
from Xlib import X, Xatom

from machine_client.desktop.base import ClipboardError
from machine_client.desktop.clipboard_owner import ClipboardOwner
from machine_client.desktop.x11.clipboard.selections import AT_ONCE_BYTES, NAMES, SelectionClient
from machine_client.desktop.x11.clipboard.transfers import Transfers
from machine_client.desktop.x11.connection import errors_translated
from schemas.inputs.clipboard_texts import Selection

MOST_FORMS: Final = 64
"""That are given at once: what a program asks for more is not."""

OWNER_POLL_SECONDS: Final = 5.0
"""Between two looks whether somebody who pastes has gone."""


@dataclass(frozen=True, slots=True)
class _Held:
    """What a selection gives: as which type and which bytes, by the target that is asked for."""

    since: int
    by_target: dict[int, tuple[int, bytes]]


class SelectionOwner(ClipboardOwner):
    """Owns them, and gives their texts in the forms that are asked for.

    Raises InjectionUnavailable where the display cannot be opened.
    """

    def __init__(self, name: str | None) -> None:
        self._client = SelectionClient(name)
        self._atoms = _Atoms(self._client)
        self._transfers = Transfers(self._atoms.incr)
        self._held: dict[int, _Held] = {}
        super().__init__()

    def _serve(self, awake: int) -> None:
        with errors_translated():
            self._client.wait(OWNER_POLL_SECONDS, awake)
            while self._client.display.pending_events():
                self._happened(self._client.display.next_event())
            self._transfers.forget_late()

    def _disconnect(self) -> None:
        with contextlib.suppress(Exception):
            self._client.display.close()

    def _own(self, selection: Selection, content: bytes) -> None:
        with errors_translated():
            self._own_atom(self._atoms.selections[selection], content)

    def _own_atom(self, selection: int, content: bytes) -> None:
        held = _Held(self._server_time(), self._atoms.as_targets(content))
        self._client.window.set_selection_owner(selection, held.since)
        if self._client.display.get_selection_owner(selection) != self._client.window:
            raise ClipboardError(
                "clipboard_taken", "another program took the clipboard at the same moment"
            )
        self._held[selection] = held

    def _server_time(self) -> int:
        """The X server's time now: what is older than another's claim would be no claim."""
        self._client.window.change_property(self._atoms.clock, Xatom.STRING, 8, b"")
        while True:
            event = self._client.display.next_event()
            if event.type == X.PropertyNotify and event.atom == self._atoms.clock:
                return int(event.time)
            self._happened(event)

    def _happened(self, event: Xlib.protocol.rq.Event) -> None:
        # XError: who pastes has gone meanwhile, and waits for nothing.
        with contextlib.suppress(Xlib.error.XError):
            if event.type == X.SelectionRequest:
                self._asked(event)
            elif event.type == X.SelectionClear:
                self._held.pop(event.atom, None)
            elif event.type == X.PropertyNotify and event.state == X.PropertyDelete:
                self._transfers.taken(event.window.id, event.atom)

    def _asked(self, event: Any) -> None:
        """Give a selection to who pastes, in the form that was asked for, or say no."""
        held = self._held.get(event.selection)
        # Programs from before 1988 name no property, and mean that of the target.
        property_ = event.property or event.target
        is_given = held is not None and self._give(held, event.requestor, event.target, property_)
        answer = Xlib.protocol.event.SelectionNotify(
            time=event.time,
            requestor=event.requestor,
            selection=event.selection,
            target=event.target,
            property=property_ if is_given else X.NONE,
        )
        event.requestor.send_event(answer)

    def _give(self, held: _Held, window: Any, target: int, property_: int) -> bool:
        atoms = self._atoms
        if target == atoms.targets:
            known = [atoms.targets, atoms.timestamp, atoms.multiple, *held.by_target]
            window.change_property(property_, Xatom.ATOM, 32, known)
        elif target == atoms.timestamp:
            window.change_property(property_, Xatom.INTEGER, 32, [held.since])
        elif target == atoms.multiple:
            self._give_several(held, window, property_)
        elif target in held.by_target:
            type_, content = held.by_target[target]
            if len(content) > AT_ONCE_BYTES:
                return self._transfers.begin(window, property_, type_, content)
            window.change_property(property_, type_, 8, content)
        else:
            return False
        return True

    def _give_several(self, held: _Held, window: Any, property_: int) -> None:
        """Give as many forms as a property names; those that are none are named none in it."""
        asked = window.get_full_property(property_, self._atoms.pair)
        pairs = [] if asked is None else list(asked.value)[: 2 * MOST_FORMS]
        for place in range(0, len(pairs) - 1, 2):
            target, into = pairs[place : place + 2]
            if target == self._atoms.multiple or not self._give(held, window, target, into):
                pairs[place + 1] = X.NONE
        window.change_property(property_, self._atoms.pair, 32, pairs)


class _Atoms:
    """The atoms of a display that owning a selection needs."""

    def __init__(self, client: SelectionClient) -> None:
        self.targets = client.atom("TARGETS")
        self.timestamp = client.atom("TIMESTAMP")
        self.multiple = client.atom("MULTIPLE")
        self.pair = client.atom("ATOM_PAIR")
        self.incr = client.atom("INCR")
        self.clock = client.atom("_FARHAND_CLOCK")
        self._utf8 = client.atom("UTF8_STRING")
        self._text = client.atom("TEXT")
        self._plain = [client.atom(f"text/plain{of}") for of in (";charset=utf-8", "")]
        self.selections = {selection: client.atom(name) for selection, name in NAMES.items()}

    def as_targets(self, content: bytes) -> dict[int, tuple[int, bytes]]:
        """Every form in which a text can be given: its type and its bytes."""
        forms = {self._utf8: (self._utf8, content), self._text: (self._utf8, content)}
        forms |= {plain: (plain, content) for plain in self._plain}
        with contextlib.suppress(UnicodeEncodeError):
            forms[Xatom.STRING] = (Xatom.STRING, content.decode().encode("latin-1"))
        return forms
