"""What hands did beside what they were told: once, in their order, and all that was acknowledged.

A hand's places and keys are nobody else's, so its events are told from those of commands.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from tests.faults.arrivals import HAND_KEYS, POINTER, Arrival, Kind, Place
from tests.faults.hand_history import HandHistory
from tests.faults.history import CLOCKS_DIFFER_SECONDS
from tests.faults.verdict import Broken, Violation

_AT_A_PLACE = (POINTER, "left", "wheel up")
"""What somebody uses at places of their own."""


def without_hands(
    arrivals: Mapping[str, Sequence[Arrival]], hands: Sequence[HandHistory]
) -> tuple[dict[str, list[Arrival]], list[Violation]]:
    """What commands and people have done, and which promises to hands were broken."""
    left: dict[str, list[Arrival]] = {}
    violations: list[Violation] = []
    for machine, its_arrivals in arrivals.items():
        readers = [_Reader(hand) for hand in hands if hand.machine == machine]
        left[machine] = [
            arrival
            for arrival, following in zip_longest(its_arrivals, its_arrivals[1:])
            if not any(reader.takes(arrival, following) for reader in readers)
        ]
        for reader in readers:
            violations += reader.violations()
    return left, violations


class _Reader:
    """Reads a machine's events from the first to the last, for one hand."""

    def __init__(self, hand: HandHistory) -> None:
        self._hand = hand
        self._steps = list(hand.steps())
        self._places = {step.place for _, step in self._steps if step.place is not None}
        self._next = 0
        self._seen: set[int] = set()
        self._down: set[str] = set()
        self._place: Place | None = None
        self._otherwise: list[Arrival] = []
        self._is_disturbed = False

    def takes(self, arrival: Arrival, following: Arrival | None) -> bool:
        """Whether an event is this hand's."""
        if arrival.at < self._hand.began_at - CLOCKS_DIFFER_SECONDS:
            return False
        is_in_time = arrival.at <= self._hand.over_at + CLOCKS_DIFFER_SECONDS
        if arrival.by_person:
            self._is_disturbed |= is_in_time and arrival.what == "left"
            return False
        if arrival.kind is Kind.RELEASE and arrival.what in self._down:
            # Also what a machine client that was killed had down, once the next one has begun.
            self._read(arrival)
            return True
        # A motion that was lost is known by what happens next, which may be somebody else's.
        is_known_late = following is not None and following.at == arrival.at
        if not self._is_of_hand(arrival) or not (
            is_in_time or (arrival.kind is Kind.MOTION and is_known_late)
        ):
            return False
        self._read(arrival)
        return True

    def violations(self) -> Iterator[Violation]:
        hand = self._hand
        for arrival in self._otherwise:
            yield Violation(Broken.BY_HAND_OTHERWISE, f"{arrival} of {hand.machine}")
        if hand.is_refused or self._is_disturbed:
            return
        for index, (number, step) in enumerate(self._steps):
            is_owed = number <= hand.acknowledged and step.kind is not Kind.MOTION
            if is_owed and index not in self._seen:
                detail = f"{step} of batch {number} at {hand.began_at:.3f} of {hand.machine}"
                yield Violation(Broken.BY_HAND_WITHOUT, detail)

    def _is_of_hand(self, arrival: Arrival) -> bool:
        """Whether nobody else does this here: programs have other keys, and other places."""
        if arrival.what in HAND_KEYS:
            return True
        return arrival.what in _AT_A_PLACE and arrival.place in self._places

    def _read(self, arrival: Arrival) -> None:
        index = self._index_of(arrival)
        # Where a person pressed the same, there was no press of ours to see.
        is_down = arrival.what in self._down or (self._is_disturbed and arrival.what == "left")
        is_let_go = arrival.kind is Kind.RELEASE and is_down
        if index is not None:
            self._seen.add(index)
            self._next = index + 1
        elif not is_let_go and not self._stays(arrival):
            self._otherwise.append(arrival)
        if arrival.kind is Kind.PRESS:
            self._down.add(arrival.what)
        elif arrival.kind is Kind.RELEASE:
            self._down.discard(arrival.what)
        self._place = arrival.place

    def _index_of(self, arrival: Arrival) -> int | None:
        """The first event that may come now and is this one."""
        is_pressed = True
        for index, (_, step) in enumerate(self._steps[self._next :], self._next):
            if step.kind is Kind.PRESS and step.what == arrival.what:
                is_pressed = False
            # What is pressed again is let go of first, where the pointer is by then.
            if step.is_made_by(arrival) and (is_pressed or step.kind is not Kind.RELEASE):
                return index
        return None

    def _stays(self, arrival: Arrival) -> bool:
        """Whether it is a motion to where the pointer is: a click says its place again."""
        return arrival.kind is Kind.MOTION and arrival.place == self._place
