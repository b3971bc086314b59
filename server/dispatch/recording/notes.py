"""What was carried out on a machine while it is recorded, until it is written.

No I/O and no clock: whoever has both calls.  Times are milliseconds since 1970.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final
from uuid import UUID, uuid4

from schemas.inputs.outcomes import Completed, Failed
from schemas.link.messages import Display
from schemas.link.picture_frames import Picture
from server.clock import iso_time
from server.dispatch.command import Command, CommandReply, Ended, Pending
from server.dispatch.recording.before_and_after import (
    BeforeAndAfter,
    Beneath,
    changes_texts,
)
from server.dispatch.recording.drafts import (
    FAILED,
    PENDING,
    PENDING_INDEX,
    Draft,
    Span,
    drafts_of,
    gap,
    span_of,
)
from server.dispatch.recording.gestures import Gestures
from server.dispatch.recording.hand_events import Done

MOST_WAITING: Final = 2000
"""Steps that the database has not taken yet."""

MOST_NOTED: Final = 1000
"""Inputs that are known to be noted, so that a retry is none again."""

OVERFLOW: Final = "The database took no steps for too long: what was done meanwhile is missing."
PRIVATE: Final = "Private control: what was done from {began} to {ended} was not recorded."
RESIZED: Final = "The desktop has another size from here on: {sizes}."


@dataclass(frozen=True, slots=True)
class Taken:
    """An input that is on its way, how the screen looked when it came, and what is at its place.

    ``around`` is around what it types, and ``is_said_secret`` that a person said that it is secret.
    ``is_made_up`` is that it was done earlier, and nothing is known of how the screen looked.
    """

    command: Command
    before: Picture | None
    beneath: Beneath | None = None
    around: BeforeAndAfter | None = None
    is_said_secret: bool = False
    is_made_up: bool = False

    @property
    def types_what_is_said_secret(self) -> bool:
        """Whether it may type something that a person said is secret."""
        return self.is_said_secret and changes_texts(self.command.body) > 0

    def made_up(self, *, is_said_secret: bool) -> "Taken":
        """As one that was done earlier than it came."""
        return Taken(self.command, None, is_said_secret=is_said_secret, is_made_up=True)


class Notes:
    """The steps that are not written, in the order in which they ended on the machine."""

    def __init__(self, *, keep_texts: bool, since: int) -> None:
        self._keep_texts = keep_texts
        self._since = since
        self._waiting: deque[Draft] = deque()
        self._gestures, self._hand = Gestures(keep_texts=keep_texts), ""
        self._displays: Sequence[Display] | None = None
        # What marks those that did not fit, until it does.
        self._overflow: Draft | None = None
        self._noted: dict[UUID, None] = {}

    def ended(self, taken: Taken, reply: CommandReply, at: int) -> None:
        """Note what became of an input; ``at`` is when its machine said so."""
        command = taken.command
        if isinstance(reply, Pending):
            self._add(self._gestures.close() if command.sender.in_segment else [])
            is_secret = taken.types_what_is_said_secret
            self._add([gap(command.id, PENDING_INDEX, PENDING, at, is_said_secret=is_secret)])
        elif isinstance(reply, Ended) and self._is_new(reply):
            span = span_of(reply, at)
            if command.sender.in_segment:
                self._add(self._of_hand(taken, reply, span))
            else:
                keep_texts = self._keep_texts and not taken.is_said_secret
                drafts = drafts_of(command, reply.outcome, span, keep_texts=keep_texts)
                _tell(drafts, taken)
                self._add(drafts)

    def desktop_is(self, displays: Sequence[Display], now: int) -> None:
        """How the desktop is; where it has another size than before, that is marked."""
        before, self._displays = self._displays, displays
        if before is not None and _sizes(before) != _sizes(displays):
            self._add([gap(uuid4(), 0, RESIZED.format(sizes=_sizes(displays)), now)])

    def was_private(self, began: int, ended: int) -> None:
        """Nothing was noted in between, as somebody had private control."""
        reason = PRIVATE.format(began=iso_time(began), ended=iso_time(ended))
        self._add([replace(gap(uuid4(), 0, reason, ended), began=began)])

    def over(
        self, now: int, *, settled: int, is_decided: Callable[[Draft], bool] = lambda _: True
    ) -> list[Draft]:
        """Those that ended so long ago, which stay until they are `written`; the first first.

        Whatever is behind one of which something is still to be decided waits as well.
        """
        self._add(self._gestures.rested(now))
        return [
            *takewhile(
                lambda draft: now - draft.ended >= settled and is_decided(draft), self._waiting
            )
        ]

    def begin_of_next(self, draft: Draft) -> int | None:
        """When the step behind this one began, if there is one."""
        later = [each.began for each in self.open if each.ended > draft.ended]
        return min(later, default=None)

    def is_typing(self, moment: int, besides: Draft) -> bool:
        """Whether another step was typing a text at a moment, which a picture may show in part."""
        return any(
            each.text is not None and each is not besides and each.began < moment < each.ended
            for each in self.open
        )

    def close(self) -> None:
        """Nothing more comes for now: what is under way is over."""
        self._add(self._gestures.close())

    @property
    def open(self) -> list[Draft]:
        """All that is noted, what is under way by hand as if it ended now."""
        open_now = self._gestures.open
        return [*self._waiting, *([] if open_now is None else [open_now])]

    def forget(self, drafts: Sequence[Draft]) -> None:
        """These are written, or are none."""
        gone = set(map(id, drafts))
        self._waiting = deque(each for each in self._waiting if id(each) not in gone)
        if self._overflow is not None and len(self._waiting) < MOST_WAITING:
            # At once: it may be that nothing comes behind it.
            self._insert(self._overflow)
            self._overflow = None

    def _is_new(self, reply: Ended) -> bool:
        """Whether it is of an input since the recording began that was not noted yet."""
        if reply.accepted_at < self._since or reply.command_id in self._noted:
            return False
        self._noted[reply.command_id] = None
        if len(self._noted) > MOST_NOTED:
            # What was forgotten is in the database.
            del self._noted[next(iter(self._noted))]
        return True

    def _of_hand(self, taken: Taken, reply: Ended, span: Span) -> list[Draft]:
        command, drafts = taken.command, []
        if command.sender.request_id != self._hand:
            # Another hand holds nothing of what the one before held.
            drafts = self._gestures.close()
            self._gestures = Gestures(keep_texts=self._keep_texts)
            self._hand = command.sender.request_id
        match reply.outcome:
            case Completed():
                done = Done(
                    command.id,
                    command.sender,
                    command.body,
                    span,
                    taken.before,
                    taken.beneath,
                    taken.around,
                    is_said_secret=taken.is_said_secret,
                )
                return drafts + self._gestures.took(done)
            case Failed(injected_at_least=events) if events:
                is_secret = taken.types_what_is_said_secret
                lost = gap(command.id, 0, FAILED, span.ended, is_said_secret=is_secret)
                return [*drafts, *self._gestures.close(), lost]
            case _:
                return drafts

    def _add(self, drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            if len(self._waiting) >= MOST_WAITING:
                is_secret = draft.is_said_secret or (
                    self._overflow is not None and self._overflow.is_said_secret
                )
                at = draft.ended
                self._overflow = gap(uuid4(), 0, OVERFLOW, at, is_said_secret=is_secret)
            else:
                self._insert(draft)

    def _insert(self, draft: Draft) -> None:
        """Put a step where it belongs: its end may be told a little late."""
        behind = len(self._waiting)
        while behind and self._waiting[behind - 1].ended > draft.ended:
            behind -= 1
        self._waiting.insert(behind, draft)


def _tell(drafts: Sequence[Draft], taken: Taken) -> None:
    """What was known of a program's input is known of each of its steps.

    Where several of them have a text, it is not known which is where.
    """
    texts = sum(draft.text is not None for draft in drafts)
    for draft in drafts:
        draft.before, draft.beneath = taken.before, taken.beneath
        draft.is_said_secret, draft.is_alone = taken.is_said_secret, len(drafts) == 1
        draft.is_made_up = taken.is_made_up
        if texts <= 1:
            draft.around = draft.last_around = taken.around


def _sizes(displays: Sequence[Display]) -> str:
    return ", ".join(f"{display.width} x {display.height}" for display in displays)
