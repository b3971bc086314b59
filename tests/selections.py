"""How often a desktop's clipboards got an owner, and which text it gave then.

Nothing here uses the code under test, so that it can contradict it: the X server itself tells each
change (XFIXES), and the new owner is asked for its text at once, as by a program that pastes.
"""

import threading
from dataclasses import dataclass, replace
from typing import Any

import Xlib.display
import Xlib.protocol.event
from Xlib import X
from Xlib.ext import xfixes

from tests.waiting import WAIT_SECONDS

SELECTIONS = {"clipboard": "CLIPBOARD", "primary": "PRIMARY"}

_PROPERTIES = 256
"""So many texts can be on their way at once."""

_OVER = 0


@dataclass
class Copied:
    """One time that a selection got an owner, and when, in the X server's milliseconds.

    ``text`` is None where the owner had another text, or was gone, before it could say this one.
    """

    selection: str
    time: int
    text: bytes | None = None


class SelectionWitness:
    """Lists every change of a selection's owner since it was made.

    An owner answers for what it has then.  So a text belongs to the last change that the X server
    told before it, and where two came at once, that of the first is not known.
    """

    def __init__(self, display: str) -> None:
        self._control: Any = Xlib.display.Display(display)
        self._display: Any = Xlib.display.Display(display)
        # An owner that has gone meanwhile is no mistake.
        self._display.set_error_handler(lambda *_: None)
        self._changed = threading.Condition()
        self._copied: list[Copied] = []
        self._last: dict[int, Copied] = {}
        self._asked: list[tuple[int, int]] = []
        self._incoming: dict[int, tuple[int, Copied, bytearray]] = {}
        self._questions = self._markers = 0
        self._window: Any = self._display.screen().root.create_window(
            0, 0, 1, 1, 0, X.CopyFromParent, event_mask=X.PropertyChangeMask
        )
        self._names = {self._atom(name): selection for selection, name in SELECTIONS.items()}
        self._utf8, self._incr = self._atom("UTF8_STRING"), self._atom("INCR")
        self._marker = self._atom("_WITNESS_MARKER")
        extension: Any = self._control.query_extension(xfixes.extname)
        self._tells = extension.first_event
        self._display.xfixes_query_version()
        for atom in self._names:
            self._display.xfixes_select_selection_input(
                self._window,
                atom,
                xfixes.XFixesSetSelectionOwnerNotifyMask
                | xfixes.XFixesSelectionWindowDestroyNotifyMask
                | xfixes.XFixesSelectionClientCloseNotifyMask,
            )
        self._display.sync()
        self._thread = threading.Thread(target=self._listen, name="selections", daemon=True)
        self._thread.start()

    def copied(self) -> list[Copied]:
        """Every change up to now, with its text where it can be known."""
        with self._changed:
            wanted = self._markers + 1
            self._mark(wanted)
            if not self._changed.wait_for(lambda: self._markers >= wanted, WAIT_SECONDS):
                raise AssertionError("the witness no longer hears the X server")
            self._changed.wait_for(lambda: not self._asked and not self._incoming, WAIT_SECONDS)
            return [replace(each) for each in self._copied]

    def close(self) -> None:
        self._mark(_OVER)
        self._thread.join(WAIT_SECONDS)
        self._display.close()
        self._control.close()

    def _atom(self, name: str) -> int:
        number: int = self._display.get_atom(name)
        return number

    def _mark(self, number: int) -> None:
        """Put a word of ours behind everything that the X server has told by now."""
        window = self._control.create_resource_object("window", self._window.id)
        data = (32, [number, 0, 0, 0, 0])
        window.send_event(
            Xlib.protocol.event.ClientMessage(window=window, client_type=self._marker, data=data)
        )
        self._control.sync()

    def _listen(self) -> None:
        while True:
            event = self._display.next_event()
            with self._changed:
                if event.type == X.ClientMessage:
                    number = event.data[1][0]
                    if number == _OVER:
                        return
                    self._markers = number
                else:
                    self._happened(event)
                self._changed.notify_all()

    def _happened(self, event: Any) -> None:
        if event.type == self._tells:
            is_owned = event.sub_code == xfixes.XFixesSetSelectionOwnerNotify
            if is_owned and event.owner.id != X.NONE:
                self._owned(event.selection, event.timestamp)
            else:
                self._lost(event.selection)
        elif event.type == X.SelectionNotify:
            self._answered(event.selection, event.property)
        elif event.type == X.PropertyNotify and event.state == X.PropertyNewValue:
            self._piece_came(event.atom)

    def _owned(self, selection: int, time: int) -> None:
        copied = Copied(self._names[selection], time)
        self._copied.append(copied)
        self._last[selection] = copied
        self._questions += 1
        into = self._atom(f"_WITNESS_{self._questions % _PROPERTIES}")
        self._asked.append((selection, into))
        self._window.convert_selection(selection, self._utf8, into, X.CurrentTime)

    def _lost(self, selection: int) -> None:
        """Nobody answers any more."""
        self._asked = [each for each in self._asked if each[0] != selection]
        late = [into for into, (of, _, _) in self._incoming.items() if of == selection]
        for into in late:
            del self._incoming[into]

    def _answered(self, selection: int, into: int) -> None:
        """Answers come in the order of the questions; without a property they say no."""
        open_ = [each for each in self._asked if each[0] == selection and into in (X.NONE, each[1])]
        if not open_:
            return
        self._asked.remove(open_[0])
        if into == X.NONE:
            return
        copied = self._last[selection]
        given = self._window.get_full_property(into, X.AnyPropertyType)
        if given is not None and given.property_type == self._incr:
            self._incoming[into] = (selection, copied, bytearray())
        elif given is not None:
            copied.text = bytes(given.value)
        self._window.delete_property(into)

    def _piece_came(self, into: int) -> None:
        if into not in self._incoming:
            return
        _, copied, whole = self._incoming[into]
        piece = self._window.get_full_property(into, X.AnyPropertyType)
        if piece is None:
            return
        whole += piece.value
        if not piece.value:
            copied.text = bytes(whole)
            del self._incoming[into]
        self._window.delete_property(into)
