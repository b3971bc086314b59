"""Programs that copy and paste, as they are on a desktop: of python-xlib alone, nothing of ours."""

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import Xlib.display
import Xlib.error
import Xlib.protocol.event
from Xlib import X, Xatom

from tests.waiting import WAIT_SECONDS


class Paster:
    """A program that asks for a selection."""

    def __init__(self, display: str) -> None:
        self.display: Any = Xlib.display.Display(display)
        self.window: Any = self.display.screen().root.create_window(
            0, 0, 1, 1, 0, X.CopyFromParent, event_mask=X.PropertyChangeMask
        )

    def atom(self, name: str) -> int:
        number: int = self.display.intern_atom(name)
        return number

    def next(self, kind: int, state: int | None = None) -> Any:
        until = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < until:
            if not self.display.pending_events():
                time.sleep(0.001)
                continue
            event = self.display.next_event()
            if event.type == kind and (state is None or event.state == state):
                return event
        raise AssertionError("nothing came from who owns the selection")

    def ask(self, selection: str, target: str, into: str = "PASTED") -> Any:
        """The property with what was asked for, left where it is; None where it was refused."""
        self.window.delete_property(self.atom(into))
        self.window.convert_selection(
            self.atom(selection), self.atom(target), self.atom(into), X.CurrentTime
        )
        if self.next(X.SelectionNotify).property == X.NONE:
            return None
        return self.window.get_full_property(self.atom(into), X.AnyPropertyType)

    def paste(self, selection: str = "CLIPBOARD", target: str = "UTF8_STRING") -> bytes | None:
        """What is pasted, in pieces where its owner gives it so; None where it is refused."""
        first = self.ask(selection, target)
        if first is None:
            return None
        if first.property_type != self.atom("INCR"):
            return bytes(first.value)
        whole = bytearray()
        self.window.delete_property(self.atom("PASTED"))
        while True:
            self.next(X.PropertyNotify, X.PropertyNewValue)
            piece = self.window.get_full_property(self.atom("PASTED"), X.AnyPropertyType)
            if not piece.value:
                return bytes(whole)
            whole += piece.value
            self.window.delete_property(self.atom("PASTED"))

    def targets(self, selection: str = "CLIPBOARD") -> set[str]:
        answer = self.ask(selection, "TARGETS")
        return {self.display.get_atom_name(atom) for atom in answer.value}

    def close(self) -> None:
        self.display.close()


@contextlib.contextmanager
def pasting(display: str) -> Iterator[Paster]:
    with contextlib.closing(Paster(display)) as paster:
        yield paster


class Copier:
    """A program that owns a selection.

    ``forms`` are what it gives by target.  What is longer than ``at_once`` it gives in pieces;
    after ``stops_after`` of them it says nothing more.
    """

    def __init__(
        self,
        display: str,
        forms: dict[str, bytes],
        *,
        selection: str = "CLIPBOARD",
        at_once: int = 100_000,
        stops_after: int | None = None,
    ) -> None:
        self.display: Any = Xlib.display.Display(display)
        self.window: Any = self.display.screen().root.create_window(0, 0, 1, 1, 0, 0)
        self.forms = {self.display.intern_atom(name): form for name, form in forms.items()}
        self.at_once = at_once
        self.stops_after = stops_after
        self.given = 0
        self.display.set_error_handler(lambda *_: None)
        self.window.set_selection_owner(self.display.intern_atom(selection), X.CurrentTime)
        self.display.sync()
        self._incr = self.display.intern_atom("INCR")
        self._pieces: dict[int, list[bytes]] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with contextlib.suppress(Xlib.error.ConnectionClosedError, OSError):
            while not self._stop.is_set():
                while self.display.pending_events():
                    self._happened(self.display.next_event())
                self._stop.wait(0.001)

    def _happened(self, event: Any) -> None:
        if event.type == X.SelectionRequest:
            form = self.forms.get(event.target)
            if form is not None:
                self._give(event, form)
            event.requestor.send_event(
                Xlib.protocol.event.SelectionNotify(
                    time=event.time,
                    requestor=event.requestor,
                    selection=event.selection,
                    target=event.target,
                    property=X.NONE if form is None else event.property,
                )
            )
            self.display.flush()
        elif event.type == X.PropertyNotify and event.state == X.PropertyDelete:
            self._next_piece(event.window, event.atom)

    def _give(self, event: Any, form: bytes) -> None:
        if len(form) <= self.at_once:
            # As long as it may be: python-xlib's own requests are short.
            for at in range(0, max(1, len(form)), 200_000):
                mode = X.PropModeAppend if at else X.PropModeReplace
                part = form[at : at + 200_000]
                event.requestor.change_property(event.property, event.target, 8, part, mode)
            return
        pieces = [form[at : at + self.at_once] for at in range(0, len(form), self.at_once)]
        self._pieces[event.requestor.id] = [*pieces, b""]
        event.requestor.change_attributes(event_mask=X.PropertyChangeMask)
        event.requestor.change_property(event.property, self._incr, 32, [len(form)])

    def _next_piece(self, window: Any, property_: int) -> None:
        pieces = self._pieces.get(window.id)
        if pieces and self.given != self.stops_after:
            self.given += 1
            window.change_property(property_, Xatom.STRING, 8, pieces.pop(0))
            self.display.flush()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self.display.close()


@contextlib.contextmanager
def copied(display: str, forms: dict[str, bytes], **how: Any) -> Iterator[Copier]:
    with contextlib.closing(Copier(display, forms, **how)) as copier:
        yield copier
