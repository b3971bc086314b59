"""A hand on a machine: sends what somebody with control does, as it happens and in order.

What cannot be sent yet waits, and moves that wait become one with all their places.  Where the
machine's link is on this node, several inputs are under way at once; a link elsewhere is waited for
after each, as nothing on the way between nodes keeps an order.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from schemas.inputs import hand
from schemas.inputs.bodies import AnyInput, Button, ClickMouse, PressKeys
from schemas.inputs.key_combinations import parse_combination
from schemas.link.close_codes import fitting
from server.dispatch.command import CommandReply, Sender
from server.dispatch.dispatcher import Dispatcher
from server.dispatch.hand.ending import Failure, ReleasedAtEnd, failure_of
from server.dispatch.hand.input_queue import InputQueue, QueuedInput, TooManyWaitError, undone
from server.dispatch.hand.segment import REST_SECONDS, Segment
from server.dispatch.questions.question import Refusal
from server.dispatch.refusals import storage_unavailable
from server.dispatch.stretches import Stretch, StretchRecorder
from server.errors import StoreUnavailable
from server.machines.link.errors import FrameFloodError
from server.machines.link.frame_budget import FrameBudget
from server.tasks import Tasks

MOST_UNANSWERED: Final = 16
"""Inputs that the machine has not acknowledged, on a link of this node."""

MOST_MOVES: Final = 4
"""As many of them are moves; what the pointer does meanwhile is merged."""


EVENTS_OF_A_FRAME: Final = 16
"""So many events cost what a frame does."""


class HandClosedError(Exception):
    """The hand must end: with this code, and this reason for a person, which fits a close frame."""

    def __init__(self, code: hand.HandCloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = fitting(reason)


@dataclass(frozen=True)
class NotDone:
    """An event of a batch was not carried out, and nothing that waited behind it was sent.

    ``reply`` is what became of it, and ``not_sent`` what surely did not happen.
    """

    sequence: int
    reply: CommandReply
    not_sent: hand.Undone


class Hand:
    """``sender`` is who has control, in a segment, of the machine.

    ``tell`` takes what they are to hear, ``close`` is called where control has ended.

    The caller counts every frame, feeds every batch in order, calls `rest` about once a second, and
    `end` once.
    """

    def __init__(
        self,
        sender: Sender,
        machine_id: str,
        dispatcher: Dispatcher,
        stretches: StretchRecorder,
        background: Tasks,
        *,
        tell: Callable[[hand.Acknowledged | NotDone], None],
        close: Callable[[HandClosedError], None],
    ) -> None:
        self._sender = sender
        self._machine_id = machine_id
        self._dispatcher = dispatcher
        self._stretches = stretches
        self._background = background
        self._tell = tell
        self._close = close
        self._sequence = 0
        self._queue = InputQueue()
        self._under_way: deque[QueuedInput] = deque()
        self._buttons: dict[Button, None] = {}
        self._keys: dict[str, None] = {}
        self._segment = Segment()
        self._stretch: Stretch | None = None
        self._heard_at = time.monotonic()
        self._budget = FrameBudget(time.monotonic)
        self._is_over = False
        self._sending: set[asyncio.Task[None]] = set()

    def take(self, batch: hand.Batch) -> None:
        """Take what happened.  Raises HandClosedError."""
        self.frames_came(len(batch.events) // EVENTS_OF_A_FRAME)
        if batch.sequence != self._sequence + 1:
            raise HandClosedError(
                hand.HandCloseCode.OUT_OF_ORDER,
                f"batch {batch.sequence} came where {self._sequence + 1} is the next",
            )
        self._sequence = batch.sequence
        self._heard_at = time.monotonic()
        try:
            for event in batch.events:
                self._queue.add(event, batch.sequence)
        except TooManyWaitError:
            raise HandClosedError(
                hand.HandCloseCode.FLOOD, "events come faster than the machine takes them"
            ) from None
        if not self._queue.complete(batch.sequence):
            self._completed(batch.sequence)
        self._send_what_may_be_sent()

    def frames_came(self, frames: int) -> None:
        """Count what came, of whatever kind.  Raises HandClosedError."""
        try:
            self._budget.count(frames)
        except FrameFloodError:
            raise HandClosedError(
                hand.HandCloseCode.FLOOD, "more came than any hand does"
            ) from None

    def rest(self) -> None:
        """End a segment of work where nothing has come for some time."""
        is_idle = not self._under_way and time.monotonic() - self._heard_at >= REST_SECONDS
        if is_idle:
            self._end_segment()

    def end(self) -> None:
        """Drop what waits and release what is held: whatever became of the websocket."""
        if self._is_over:
            return
        self._is_over = True
        self._queue.drop()
        self._background.start_and_report(self._end(), "release what a hand held")

    async def _end(self) -> None:
        if self._sending and not self._is_here():
            # Nothing on the way between nodes keeps an order: a release would overtake its press.
            await asyncio.wait(self._sending)
        released = self._release()
        if released is not None:
            await released.until_done()
        if self._sending:
            # What is still under way belongs to the segment.
            await asyncio.wait(self._sending)
        self._end_segment()

    def _send_what_may_be_sent(self) -> None:
        while self._queue and not self._is_over and self._may_send():
            queued = self._queue.next()
            self._under_way.append(queued)
            self._note_held(queued)
            # Tasks begin in the order in which they are made, and a link that is here is written
            # to before they wait for anything.
            sending = self._background.start_and_report(
                self._carry_out(queued), "carry out what a hand did"
            )
            self._sending.add(sending)
            sending.add_done_callback(self._sending.discard)

    def _may_send(self) -> bool:
        if not self._under_way:
            return True
        if not self._is_here():
            return False
        if _is_modifier_press(self._under_way[-1]):
            # Refused, it must not leave what follows with another meaning.
            return False
        if self._queue.may_grow:
            return sum(queued.is_move for queued in self._under_way) < MOST_MOVES
        return len(self._under_way) < MOST_UNANSWERED

    def _is_here(self) -> bool:
        """Whether the machine's link is on this node, where all that is sent keeps its order."""
        return self._dispatcher.is_here(self._sender.organization_id, self._machine_id)

    def _note_held(self, queued: QueuedInput) -> None:
        match queued.event:
            case hand.ButtonChanged(button=button, down=True):
                self._buttons[button] = None
            case hand.ButtonChanged(button=button):
                self._buttons.pop(button, None)
            case hand.KeyChanged(key=key, down=True):
                self._keys[key] = None
            case hand.KeyChanged(key=key):
                self._keys.pop(key, None)
            case _:
                pass

    def _note_not_released(self, queued: QueuedInput) -> None:
        """What was to go up, and may not have, is still held."""
        match queued.event:
            case hand.ButtonChanged(button=button, down=False):
                self._buttons[button] = None
            case hand.KeyChanged(key=key, down=False):
                self._keys[key] = None
            case _:
                pass

    async def _carry_out(self, queued: QueuedInput) -> None:
        failure = await self._sent(queued.body)
        queued.is_over = True
        if failure is None:
            self._segment.did(queued)
        else:
            self._segment.refused += 1
            self._note_not_released(queued)
            self._failed(queued, failure)
        self._note_segment()
        self._advance()

    async def _sent(self, body: AnyInput) -> Failure | None:
        """Carry out an input; why it was not, or None."""
        try:
            command = self._dispatcher.accept(self._sender, self._machine_id, body, minimal=True)
            reply = await self._dispatcher.ask(command)
        except StoreUnavailable as error:
            return Failure(storage_unavailable(str(error)))
        return failure_of(reply)

    def _failed(self, queued: QueuedInput, failure: Failure) -> None:
        """Send nothing of what waits: it was meant for a screen on which this had happened."""
        if self._is_over:
            self._release()
            return
        dropped = self._queue.drop()
        lost = dropped if failure.something_happened else [queued, *dropped]
        self._tell(NotDone(queued.sequence, failure.reply, undone(lost)))
        if isinstance(failure.reply, Refusal) and failure.is_control_ended:
            self._close(HandClosedError(hand.HandCloseCode.CONTROL_ENDED, failure.reply.detail))
            return
        if completes := max((each.completes for each in dropped), default=0):
            self._completed(completes)
        self._release()

    def _release(self) -> ReleasedAtEnd | None:
        """Begin to release what is held."""
        if not self._buttons and not self._keys:
            return None
        released = ReleasedAtEnd(
            list(self._buttons), list(self._keys), self._sent, self._is_held_anew
        )
        self._buttons, self._keys = {}, {}
        self._background.start_and_report(released.run(), "release what a hand held")
        return released

    def _is_held_anew(self, release: AnyInput) -> bool:
        """Whether something was pressed again since its release began."""
        match release:
            case ClickMouse(button=button):
                return button in self._buttons
            case PressKeys(text=keys):
                return any(key in self._keys for key in keys.split(" "))
            case _:
                return False

    def _advance(self) -> None:
        """Tell how far all is done, and send what has waited for it."""
        done = 0
        while self._under_way and self._under_way[0].is_over:
            done = self._under_way.popleft().completes or done
        if done and not self._is_over:
            self._tell(hand.Acknowledged(sequence=done))
        self._send_what_may_be_sent()

    def _completed(self, sequence: int) -> None:
        """A batch has its end when all that is under way has: now, where nothing is."""
        if self._under_way:
            self._under_way[-1].completes = sequence
        else:
            self._tell(hand.Acknowledged(sequence=sequence))

    def _note_segment(self) -> None:
        """More was done in the segment, or it begins."""
        if self._stretch is None:
            segment = self._segment
            self._stretch = self._stretches.begin(
                *(self._sender, self._machine_id, "control.worked", segment.in_words),
                became=segment.became,
            )
        else:
            self._stretches.go_on(self._stretch)

    def _end_segment(self) -> None:
        if self._stretch is not None:
            self._stretches.end(self._stretch)
            self._segment, self._stretch = Segment(), None


def _is_modifier_press(queued: QueuedInput) -> bool:
    event = queued.event
    if queued.is_over or not isinstance(event, hand.KeyChanged) or not event.down:
        return False
    (chord,) = parse_combination(event.key)
    return bool(chord.modifiers)
