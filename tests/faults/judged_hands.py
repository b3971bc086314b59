"""What hands did beside what they were told: once, in their order, and all that was acknowledged.

A hand's places and keys are nobody else's, so its events are told from those of commands.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from tests.faults.arrivals import HAND_KEYS, POINTER, Arrival, Kind, Place
from tests.faults.hand_history import HandHistory
from tests.faults.history import CLOCKS_DIFFER_SECONDS, HAS_CONTROL, Fault
from tests.faults.verdict import Broken, Violation

UNDER_WAY_SECONDS = 10.0
"""How long after the end of control events may come that were under way then."""

_AT_A_PLACE = (POINTER, "left", "wheel up")
"""What somebody uses at places of their own."""


def without_hands(
    arrivals: Mapping[str, Sequence[Arrival]], hands: Sequence[HandHistory], faults: Sequence[Fault]
) -> tuple[dict[str, list[Arrival]], list[Violation]]:
    """What commands and people have done, and which promises to hands were broken."""
    left: dict[str, list[Arrival]] = {}
    violations: list[Violation] = []
    for machine, its_arrivals in arrivals.items():
        readers = [
            _Reader(hand, _end_of(hand, faults)) for hand in hands if hand.machine == machine
        ]
        left[machine] = [
            arrival
            for arrival, following in zip_longest(its_arrivals, its_arrivals[1:])
            if not any(reader.takes(arrival, following) for reader in readers)
        ]
        for reader in readers:
            violations += reader.violations()
    return left, violations


def _end_of(hand: HandHistory, faults: Sequence[Fault]) -> float:
    """Until when what was under way as control ended may come: never beside the next in control."""
    next_in_control = (
        fault.began_at
        for fault in faults
        if fault.kind == HAS_CONTROL and fault.target == hand.machine
    )
    late = hand.over_at + UNDER_WAY_SECONDS
    return min([late, *(began_at for began_at in next_in_control if began_at > hand.over_at)])


class _Reader:
    """Reads a machine's events from the first to the last, for one hand."""

    def __init__(self, hand: HandHistory, may_come_until: float) -> None:
        self._hand = hand
        self._may_come_until = may_come_until
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
        if not self._is_of_hand(arrival):
            return False
        # A motion that was lost is known by what happens next, which may be somebody else's.
        is_known_late = following is not None and following.at == arrival.at
        may_come = arrival.at <= self._may_come_until + CLOCKS_DIFFER_SECONDS
        is_late = may_come or (arrival.kind is Kind.MOTION and is_known_late)
        # A drag of a program may pass its places.
        if not is_in_time and not (is_late and self._index_of(arrival) is not None):
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
