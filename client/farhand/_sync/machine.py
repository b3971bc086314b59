# Made of farhand/_async by client/unasync.py: change it there.
"""One machine: its inputs, its screen, its elements, its clipboard, and control of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote
from uuid import UUID

from farhand import actions, types
from farhand._renewal import Renewal
from farhand._session_steps import SessionSteps
from farhand._sync.connection import Connection, path_with
from farhand._sync.elements import ElementWork
from farhand._sync.help import DEFAULT_SECONDS, Help
from farhand._sync.inputs import Inputs
from farhand._sync.lists import Lists
from farhand._sync.recordings import Recordings
from farhand.actions import Action, Button, Direction, Meant, Size
from farhand.errors import FarhandError, Problem
from farhand.types import (
    ActionsResult,
    Area,
    ClipboardContent,
    CommandItem,
    CommandView,
    Control,
    Dimensions,
    InputResult,
    Picture,
    Point,
    ScreenText,
    ScreenTexts,
    WaitResult,
)

PictureFormat = Literal["png", "jpeg", "webp"]

RENEW_TIMEOUT_SECONDS = 10.0
TEXTS_TIMEOUT_SECONDS = 150.0


class Machine(ElementWork):
    """A machine, by its id.  Nothing is sent until one of its methods is called.

    Each input has an ``Idempotency-Key``, made once and kept over all tries: so it happens at most
    once, and its answer is the machine's own.  ``key`` gives one; ``timeout`` is in seconds, for
    all tries of a call together.  Every method raises a :class:`farhand.FarhandError`.
    """

    def __init__(
        self, connection: Connection, machine_id: str, session: SessionSteps | None = None
    ) -> None:
        self.id = machine_id
        self._computer = f"/v1/computer/{quote(machine_id, safe='')}"
        self._machine = f"/v1/machines/{quote(machine_id, safe='')}"
        super().__init__(connection, self._computer)
        self._inputs = Inputs(connection, self._computer, session)

    def click(
        self,
        x: int | None = None,
        y: int | None = None,
        *,
        element: Meant | None = None,
        button: Button = "left",
        clicks: int = 1,
        down: bool | None = None,
        modifiers: Sequence[str] = (),
        picture: Size | None = None,
        key: str | None = None,
        timeout: float | None = None,
    ) -> InputResult:
        """Click at a place, an element or the pointer: see :func:`farhand.actions.click`."""
        action = actions.click(
            x,
            y,
            element=element,
            button=button,
            clicks=clicks,
            down=down,
            modifiers=modifiers,
            picture=picture,
        )
        return self.do(action, key=key, timeout=timeout)

    def move(
        self,
        x: int | None = None,
        y: int | None = None,
        *,
        element: Meant | None = None,
        path: Iterable[tuple[int, int]] | None = None,
        modifiers: Sequence[str] = (),
        picture: Size | None = None,
        key: str | None = None,
        timeout: float | None = None,
    ) -> InputResult:
        """Move the pointer: see :func:`farhand.actions.move`."""
        action = actions.move(
            x, y, element=element, path=path, modifiers=modifiers, picture=picture
        )
        return self.do(action, key=key, timeout=timeout)

    def drag(
        self,
        start_x: int | None = None,
        start_y: int | None = None,
        to_x: int | None = None,
        to_y: int | None = None,
        *,
        start_element: Meant | None = None,
        to_element: Meant | None = None,
        duration: float | None = None,
        button: Button = "left",
        path: Iterable[tuple[int, int]] | None = None,
        modifiers: Sequence[str] = (),
        picture: Size | None = None,
        key: str | None = None,
        timeout: float | None = None,
    ) -> InputResult:
        """Drag from one place to another: see :func:`farhand.actions.drag`."""
        action = actions.drag(
            start_x,
            start_y,
            to_x,
            to_y,
            start_element=start_element,
            to_element=to_element,
            duration=duration,
            button=button,
            path=path,
            modifiers=modifiers,
            picture=picture,
        )
        return self.do(action, key=key, timeout=timeout)

    def scroll(
        self,
        direction: Direction,
        amount: int,
        x: int | None = None,
        y: int | None = None,
        *,
        element: Meant | None = None,
        modifiers: Sequence[str] = (),
        picture: Size | None = None,
        key: str | None = None,
        timeout: float | None = None,
    ) -> InputResult:
        """Turn the wheel by ``amount`` notches: see :func:`farhand.actions.scroll`."""
        action = actions.scroll(
            direction, amount, x, y, element=element, modifiers=modifiers, picture=picture
        )
        return self.do(action, key=key, timeout=timeout)

    def key(
        self,
        text: str,
        *,
        down: bool | None = None,
        hold: float | None = None,
        repeat: int | None = None,
        key: str | None = None,
        timeout: float | None = None,
    ) -> InputResult:
        """Press keys, such as ``ctrl+a``: see :func:`farhand.actions.key`."""
        action = actions.key(text, down=down, hold=hold, repeat=repeat)
        return self.do(action, key=key, timeout=timeout)

    def type(
        self, text: str, *, key: str | None = None, timeout: float | None = None
    ) -> InputResult:
        """Type a text of up to 10,000 characters; a line's end is Return."""
        return self.do(actions.type(text), key=key, timeout=timeout)

    def write_clipboard(
        self,
        text: str,
        *,
        selection: Literal["clipboard", "primary"] = "clipboard",
        key: str | None = None,
        timeout: float | None = None,
    ) -> InputResult:
        """Copy a text, for whoever pastes on the machine."""
        action = actions.write_clipboard(text, selection=selection)
        return self.do(action, key=key, timeout=timeout)

    def do(
        self, action: Action, *, key: str | None = None, timeout: float | None = None
    ) -> InputResult:
        """Carry out one input, as the functions of :mod:`farhand.actions` make them."""
        body = dict(action)
        operation = str(body.pop("operation"))
        if operation == "clipboard.write":
            return self._inputs.send(InputResult, "PUT", "/clipboard", body, key, timeout)
        address = f"/input/{operation.replace('.', '/')}"
        return self._inputs.send(InputResult, "POST", address, body, key, timeout)

    def actions(
        self,
        actions: Iterable[Action],
        *,
        screenshot: Mapping[str, Any] | None = None,
        key: str | None = None,
        timeout: float | None = None,
    ) -> ActionsResult:
        """Carry out 1 to 50 actions in their order, as one request.

        ``screenshot`` wants a picture at the end, as :meth:`screenshot` does; its ``settle`` is for
        how many seconds the screen must be still before.  Raises :class:`farhand.ActionsStopped`
        where the screen did not show what was waited for, and :class:`farhand.InputFailed` or
        :class:`farhand.OutcomeUnknown`, which say how far it came.
        """
        body: dict[str, Any] = {"actions": list(actions)}
        if screenshot is not None:
            body["screenshot"] = dict(screenshot)
        return self._inputs.send(ActionsResult, "POST", "/actions", body, key, timeout)

    def wait(
        self,
        *conditions: Mapping[str, Any],
        still: float | None = None,
        changed: bool = False,
        text: str | None = None,
        element: Meant | None = None,
        timeout: float = 30.0,
        screenshot: Mapping[str, Any] | None = None,
    ) -> WaitResult:
        """Wait until the screen meets one of several conditions, for ``timeout`` seconds at most.

        ``still=0.5`` is that nothing has changed for so long, ``changed=True`` that something has,
        ``text="Saved"`` that this stands there, and ``element`` that one can be seen;
        :mod:`farhand.actions` makes others.  Of a wait that was in vain ``matched`` is None, and
        ``seen`` has the texts nearest to the sought ones.
        """
        wanted = [*conditions]
        if still is not None:
            wanted.append(actions.still(still))
        if changed:
            wanted.append(actions.changed())
        if text is not None:
            wanted.append(actions.text(text))
        if element is not None:
            wanted.append(actions.seen(element))
        body = {"any": wanted, "timeout": timeout, "screenshot": screenshot}
        reply = self._connection.send(
            "POST",
            f"{self._computer}/wait",
            json=body,
            is_repeatable=True,
            timeout=max(self._connection.timeout, timeout + 30),
        )
        return self._connection.parsed(WaitResult, reply)

    def texts(self, *, region: tuple[int, int, int, int] | None = None) -> list[ScreenText]:
        """Read the texts on the screen, line by line, each with its place.

        ``region`` is x, y, width and height of the part to read, which then takes less time.
        """
        query = {"region": None if region is None else ",".join(map(str, region))}
        # Many may want to read at once, and the server reads in turns.
        reply = self._connection.send(
            "GET",
            f"{self._computer}/display/texts",
            query=query,
            timeout=max(self._connection.timeout, TEXTS_TIMEOUT_SECONDS),
        )
        return self._connection.parsed(ScreenTexts, reply).texts

    def screenshot(
        self,
        *,
        format: PictureFormat = "png",
        width: int | None = None,
        height: int | None = None,
        quality: int | None = None,
        region: tuple[int, int, int, int] | None = None,
        display: int | None = None,
        pointer: bool = True,
        timeout: float | None = None,
    ) -> Picture:
        """Take a picture of the screen, made smaller to fit ``width`` and ``height`` if given.

        ``region`` is x, y, width and height of a part of the desktop, ``display`` the number of one
        display, from 0; without either it is all of the desktop.
        """
        reply = self._connection.send(
            "GET",
            f"{self._computer}/display/screenshot",
            query={
                "format": format,
                "width": width,
                "height": height,
                "quality": quality,
                "region": None if region is None else ",".join(map(str, region)),
                "display": display,
                "pointer": pointer,
            },
            timeout=timeout,
        )
        try:
            x, y, wide, high = map(int, reply.headers["Farhand-Screen-Region"].split(","))
            own_width, own_height = map(int, reply.headers["Farhand-Picture-Size"].split(","))
        except (KeyError, ValueError):
            raise self._connection.stranger(reply) from None
        return Picture(
            data=reply.body,
            format=format,
            width=own_width,
            height=own_height,
            region=Area(x=x, y=y, width=wide, height=high),
        )

    def dimensions(self) -> Dimensions:
        """Where the displays are."""
        return self._connection.call(Dimensions, "GET", f"{self._computer}/display/dimensions")

    def pointer(self) -> Point:
        """Where the pointer is."""
        return self._connection.call(Point, "GET", f"{self._computer}/input/mouse/position")

    def read_clipboard(self, *, selection: Literal["clipboard", "primary"] = "clipboard") -> str:
        """The text that was copied last, once all inputs before have ended."""
        path = path_with(f"{self._computer}/clipboard", {"selection": selection})
        return (self._connection.call(ClipboardContent, "GET", path)).text

    def get(self) -> types.Machine:
        """How the machine is."""
        return self._connection.call(types.Machine, "GET", self._machine)

    def rename(self, name: str) -> types.Machine:
        """Give it another name; its id stays."""
        return self._change(name=name)

    def tag(self, *tags: str) -> types.Machine:
        """Give it these tags, in place of those that it has."""
        return self._change(tags=[*tags])

    def pause(self, reason: str | None = None, *, until: datetime | None = None) -> types.Machine:
        """Let it take no inputs, until then or until :meth:`resume`."""
        end = None if until is None else until.isoformat()
        return self._change(paused=True, pause_reason=reason, pause_until=end)

    def expect_offline(self, until: datetime, reason: str | None = None) -> types.ExpectedOffline:
        """Let webhooks be told of it only where it is away after that time."""
        path, body = f"{self._machine}/expected-offline", {"until": until.isoformat()}
        if reason is not None:
            body["reason"] = reason
        return self._connection.call(types.ExpectedOffline, "PUT", path, body)

    def expected_offline(self) -> types.ExpectedOffline:
        """Until when it may be away without a word.  Raises NotFound where it may not."""
        path = f"{self._machine}/expected-offline"
        return self._connection.call(types.ExpectedOffline, "GET", path)

    def expect_online(self) -> None:
        """Let webhooks be told of it as of any other."""
        self._connection.send("DELETE", f"{self._machine}/expected-offline")

    def resume(self) -> types.Machine:
        """End a pause."""
        return self._change(paused=False)

    def rotate(self) -> types.Invitation:
        """Have its client make itself a new token; the others fall once it has come back with it.

        ``used`` of the invitation is 1 then.
        """
        return self._connection.call(
            types.Invitation, "POST", f"{self._machine}/rotate", is_repeatable=True
        )

    def remove(self) -> None:
        """Remove it: its tokens end, and nothing can be sent to it any more."""
        self._connection.send("DELETE", self._machine)

    def commands(self, *, limit: int | None = None) -> Iterator[CommandItem]:
        """The inputs that were sent to it, newest first: all, or the first ``limit``."""
        return Lists(self._connection).items(CommandItem, f"{self._machine}/commands", {}, limit)

    def trouble(self, *, limit: int | None = None) -> Iterator[types.Trouble]:
        """What was wrong with it in the last 30 days, and is: the latest first."""
        return Lists(self._connection).items(types.Trouble, f"{self._machine}/trouble", {}, limit)

    def command(self, command_id: str) -> CommandView:
        """What became of one of its commands."""
        return self._connection.call(CommandView, "GET", f"{self._machine}/commands/{command_id}")

    @contextmanager
    def control(
        self, *, take_over: bool = False, private: bool = False, note: str | None = None
    ) -> Iterator[Control]:
        """Have the machine alone, in a ``with`` statement: no other program's input reaches it.

        The lease is renewed meanwhile and given back at the end; inputs by this object carry it.
        Raises :class:`farhand.ControlHeld` where somebody else has it, unless ``take_over``.  Once
        it is taken over, the next input raises :class:`farhand.ControlEnded`.  While it is
        ``private``, nobody else sees the screen, its elements or the clipboard.
        """
        body = {"take_over": take_over, "private": private, "note": note}
        taken = self._connection.send("POST", f"{self._machine}/control", json=body)
        lease = self._connection.parsed(Control, taken)
        address = f"{self._machine}/control/{lease.id}"

        def renew() -> bool:
            try:
                self._connection.send("PUT", address, timeout=RENEW_TIMEOUT_SECONDS)
            except Problem:
                return False
            except FarhandError:
                return True  # The next renewal may come in time.
            return True

        before, self._inputs.lease = self._inputs.lease, lease.id
        renewal = Renewal(renew)
        try:
            yield lease
        finally:
            self._inputs.lease = before
            renewal.stop()
            self._give_back(address)

    def make_private(self, private: bool = True) -> Control:
        """Have one's control be private, or open, from now on.  ValueError outside `control`."""
        if self._inputs.lease is None:
            raise ValueError("only within control() is there anything to make private")
        address = f"{self._machine}/control/{self._inputs.lease}"
        body = {"private": private}
        return self._connection.call(Control, "PATCH", address, body, is_repeatable=True)

    @contextmanager
    def record(
        self,
        *,
        workflow: UUID | str | None = None,
        name: str | None = None,
        keep_texts: bool = False,
    ) -> Iterator[types.Recording]:
        """Record what this object does, in a ``with`` statement: each input becomes a step.

        The trajectory's id is known from the begin; its last step is there at the end.  Without a
        ``workflow`` a new one is made.  ``keep_texts`` keeps what is typed also where the field may
        be a password's.  An input raises :class:`farhand.RecordingEnded` once somebody has stopped
        the recording, or it has ended by itself.
        """
        recordings = Recordings(self._connection)
        begun = recordings.start(
            self.id, workflow=workflow, name=name, of="me", keep_texts=keep_texts
        )
        before, self._inputs.recording = self._inputs.recording, str(begun.id)
        try:
            yield begun
        finally:
            self._inputs.recording = before
            recordings.stop(begun.id)

    def help(
        self,
        reason: str,
        *,
        kind: Literal["help", "approval"] = "help",
        timeout: int = DEFAULT_SECONDS,
        key: str | None = None,
    ) -> types.HelpRequest:
        """Ask people about this machine, and wait until it has ended: see ``answer`` and ``state``.

        ``timeout`` is in seconds.  Under the same ``key`` a program that is started again asks
        nothing anew.
        """
        help_ = Help(self._connection)
        asked = help_.ask(self.id, reason, kind=kind, timeout=timeout, key=key)
        return help_.wait(asked.id)

    def _give_back(self, address: str) -> None:
        try:
            self._connection.send("DELETE", address, timeout=RENEW_TIMEOUT_SECONDS)
        except FarhandError:
            return  # It is over already, or ends by itself within 30 s.

    def _change(self, **fields: Any) -> types.Machine:
        given = {name: value for name, value in fields.items() if value is not None}
        return self._connection.call(
            types.Machine, "PATCH", self._machine, given, is_repeatable=True
        )
