"""Which command each event belongs to, by its content alone.

A machine carries out one command at a time, so its events come one command after another.  Between
them come the releases of what an earlier one, or one that was cut short, kept pressed.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.faults.arrivals import Arrival, Kind, Place, Step
from tests.faults.history import CommandHistory
from tests.faults.inputs import Input

AROUND_SECONDS = 15.0
"""How long after its last answer an event may still be taken for a command's own."""

DISTURBED_SECONDS = 0.25
"""How long before an input's first event a person's press may have come after it was looked for."""


@dataclass(eq=False)
class Occurrence:
    """One time that a command's input happened, as far as it did.

    ``matched`` of its steps came, ``events`` in all.  ``left`` is what it was to release and did
    not.  ``is_disturbed`` is one that a person came between.
    """

    command: CommandHistory
    input: Input
    matched: int = 0
    events: int = 0
    left: frozenset[str] = frozenset()
    is_disturbed: bool = False

    @property
    def is_whole(self) -> bool:
        return self.next_step is None and not self.left

    @property
    def next_step(self) -> Step | None:
        return self.input.steps[self.matched] if self.matched < len(self.input.steps) else None

    def is_travelling(self, arrival: Arrival) -> bool:
        """Whether an event is a drag's on its way, between its press and its end."""
        if not self.input.is_drag or self.matched not in (2, 3) or arrival.kind is not Kind.MOTION:
            return False
        start, end = self.input.steps[0].place, self.input.steps[2].place
        assert start is not None
        assert end is not None
        return _is_between(start, end, arrival.place)


@dataclass
class Attribution:
    """The events of one machine by command; ``strays`` are those of none.

    ``released`` is what was released apart from its own command's steps, and when.
    """

    occurrences: dict[str, list[Occurrence]] = field(default_factory=lambda: defaultdict(list))
    strays: list[Arrival] = field(default_factory=list)
    released: list[Arrival] = field(default_factory=list)

    def of(self, command: CommandHistory) -> list[Occurrence]:
        """The times that a command happened; with its own body, not another one under its key."""
        return [each for each in self._all_of(command) if each.input is command.input]

    def of_other_body(self, command: CommandHistory) -> list[Occurrence]:
        """The times that another body under its key happened."""
        return [each for each in self._all_of(command) if each.input is not command.input]

    def _all_of(self, command: CommandHistory) -> list[Occurrence]:
        return self.occurrences.get(command.key, [])


def attributed(arrivals: Sequence[Arrival], commands: Sequence[CommandHistory]) -> Attribution:
    """Read one machine's events from the first to the last."""
    reader = _Reader(arrivals, commands)
    for index in range(len(arrivals)):
        reader.read(index)
    return reader.end()


class _Reader:
    def __init__(self, arrivals: Sequence[Arrival], commands: Sequence[CommandHistory]) -> None:
        self.attribution = Attribution()
        self._arrivals = arrivals
        self._candidates: dict[Step, list[tuple[CommandHistory, Input]]] = defaultdict(list)
        for command in commands:
            for each in (command.input, command.other_input):
                if each.steps:
                    self._candidates[each.steps[0]].append((command, each))
        self._windows = {command.key: command.window() for command in commands}
        self._current: Occurrence | None = None
        self._down: dict[str, Occurrence | None] = {}
        self._let_go_since: list[str] = []
        self._person_came_at = float("-inf")

    def read(self, index: int) -> None:
        arrival = self._arrivals[index]
        if arrival.by_person:
            self._note_person(arrival)
        elif self._goes_on(index):
            pass
        elif arrival.kind is Kind.RELEASE and arrival.what in self._down:
            self._let_go(arrival)
        elif not self._begins(index):
            self.attribution.strays.append(arrival)

    def end(self) -> Attribution:
        """Nothing more comes."""
        self._close()
        return self.attribution

    def _note_person(self, arrival: Arrival) -> None:
        self._person_came_at = arrival.at
        if self._current is not None:
            self._current.is_disturbed = True
        if arrival.kind is Kind.PRESS:
            self._down[arrival.what] = None
        else:
            self._down.pop(arrival.what, None)

    def _goes_on(self, index: int) -> bool:
        """Whether an event is the next one of the command that has begun."""
        current, arrival = self._current, self._arrivals[index]
        if current is None:
            return False
        step = current.next_step
        if step is not None and step.is_made_by(arrival) and not self._is_anothers(index):
            self._take(current, arrival)
            return True
        if current.is_travelling(arrival):
            current.events += 1
            return True
        return False

    def _is_anothers(self, index: int) -> bool:
        """Whether a release is of what another pressed, or a key begins another command."""
        current, arrival = self._current, self._arrivals[index]
        assert current is not None
        if arrival.kind is Kind.RELEASE:
            return self._down.get(arrival.what) is not current
        step = current.next_step
        if step is not None and step.place is not None:
            return False
        # Keys have no place: one that was cut short may be followed by one that begins likewise.
        if self._matches(index, current.input, current.matched) == len(current.input.steps):
            return False
        return any(
            self._matches(index, each, 0) == len(each.steps)
            for _, each in self._candidates_at(arrival)
        )

    def _take(self, current: Occurrence, arrival: Arrival) -> None:
        current.matched += 1
        current.events += 1
        self._let_go_since.clear()
        if arrival.kind is Kind.PRESS:
            self._down[arrival.what] = current
        elif arrival.kind is Kind.RELEASE:
            del self._down[arrival.what]

    def _let_go(self, arrival: Arrival) -> None:
        """Something was released that an earlier command held, or that one did not come to."""
        owner, current = self._down.pop(arrival.what), self._current
        self._let_go_since.append(arrival.what)
        self.attribution.released.append(arrival)
        if owner is not None:
            owner.events += 1
        if current is None:
            return
        if owner is current and not current.is_whole:
            self._current = None  # It was cut short.
        elif owner is not current:
            current.events += 1

    def _begins(self, index: int) -> bool:
        arrival = self._arrivals[index]
        found = self._likeliest(index)
        if found is None:
            return False
        self._close()
        command, body = found
        disturbed = arrival.at - self._person_came_at < DISTURBED_SECONDS
        pressed = {step.what for step in body.steps if step.kind is Kind.PRESS}
        # What it presses and an earlier one held, it releases first.
        before = sum(what in pressed for what in self._let_go_since)
        self._current = Occurrence(command, body, events=before, is_disturbed=disturbed)
        self.attribution.occurrences[command.key].append(self._current)
        self._take(self._current, arrival)
        return True

    def _close(self) -> None:
        """The command that has begun is over."""
        if self._current is not None:
            self._current.left = frozenset(self._current.input.lets_go).intersection(self._down)

    def _likeliest(self, index: int) -> tuple[CommandHistory, Input] | None:
        """The command that fits best: by its events, by its answer, by its time.

        What a kill cut short after a key or two fits many.  Another body under a used key is
        refused, so it is the last that such a beginning is taken for.
        """
        arrival = self._arrivals[index]
        candidates = self._candidates_at(arrival)
        near = [each for each in candidates if self._distance(arrival.at, each[0]) == 0]
        return max(
            near or candidates,
            key=lambda each: (
                self._matches(index, each[1], 0),
                each[1] is each[0].input,
                _was_cut_short(each[0]),
                -self._distance(arrival.at, each[0]),
                # Keys that are held come again with another command: its own time is nearest,
                # which ends with its answer, however often that is asked for again.
                -_away_from(arrival.at, each[0].until_answered()),
            ),
            default=None,
        )

    def _distance(self, at: float, command: CommandHistory) -> float:
        """How far a moment is from the time in which a command may happen, in seconds."""
        begin, end = self._windows[command.key]
        return _away_from(at, (begin, end + AROUND_SECONDS))

    def _candidates_at(self, arrival: Arrival) -> list[tuple[CommandHistory, Input]]:
        here = self._candidates.get(Step(arrival.kind, arrival.what, arrival.place), [])
        return here or self._candidates.get(Step(arrival.kind, arrival.what), [])

    def _matches(self, index: int, body: Input, done: int) -> int:
        """How many of an input's steps are done if it goes on here."""
        pressed = {step.what for step in body.steps[:done] if step.kind is Kind.PRESS}
        for arrival in self._following(index):
            if done == len(body.steps):
                break
            if body.steps[done].is_made_by(arrival):
                done += 1
                pressed.add(arrival.what)
            elif arrival.kind is not Kind.RELEASE or arrival.what in pressed:
                break
        return done

    def _following(self, index: int) -> Iterator[Arrival]:
        for at in range(index, len(self._arrivals)):
            if not self._arrivals[at].by_person:
                yield self._arrivals[at]


def _away_from(at: float, time: tuple[float, float]) -> float:
    """How many seconds a moment is before or after a time; 0 within it."""
    begin, end = time
    return max(begin - at, at - end, 0.0)


def _was_cut_short(command: CommandHistory) -> bool:
    final = command.first_final()
    return final is None or final.problem in ("outcome-unknown", "input-failed")


def _is_between(start: Place, end: Place, place: Place) -> bool:
    """Whether a pixel is on the straight line, as far as pixels can be."""
    across, down = end.x - start.x, end.y - start.y
    longest = max(abs(across), abs(down)) or 1
    part = ((place.x - start.x) * across + (place.y - start.y) * down) / (
        across * across + down * down or 1
    )
    is_near = (
        abs(start.x + part * across - place.x) <= 1 and abs(start.y + part * down - place.y) <= 1
    )
    return is_near and -1 / longest <= part <= 1 + 1 / longest
