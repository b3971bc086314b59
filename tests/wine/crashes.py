"""A machine client of Windows that is killed at each point of an input's way, one after another.

The rows of docs/design/at-most-once.md that are the machine client's.  One machine goes through
all of them: each start settles what the one before had left, and is killed in turn.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from machine_client.system.failpoints import KILLED
from schemas.programs.failpoints import Failpoint
from tests.machine_client.desktop.contract.rig import strokes
from tests.machine_client.desktop.windows.rig import WindowsWitness
from tests.processes import kind_of
from tests.waiting import eventually
from tests.wine.machines import CLICK, PLACE, Machine

TEXT = "abcdefghij" * 20
TYPED = [stroke for letter in TEXT for stroke in (f"down {letter}", f"up {letter}")]
CHORD = ["down ctrl", "down alt", "down x", "up x", "up alt", "up ctrl"]


@dataclass(frozen=True)
class Row:
    """An input, where its client is killed, and what is to come of it.

    ``before`` is what had happened when nothing ran, and ``held`` what was down then; ``after`` is
    what the next start released.  ``whole`` is all that the input does when nobody is killed.
    """

    point: str
    answer: str
    before: list[str]
    held: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    operation: str = "mouse/click"
    body: dict[str, Any] = field(default_factory=lambda: PLACE)
    whole: list[str] = field(default_factory=lambda: CLICK)

    @property
    def armed(self) -> str:
        """The failpoint of the start that the input is sent to."""
        point, _, passes = self.point.partition("@")
        return f"{'after-done' if point == 'before-report' else point}=kill@{passes or 1}"

    def __str__(self) -> str:
        return f"{self.operation}-{self.point}-{'held' if 'down' in self.body else ''}"


UNKNOWN = "outcome-unknown"
KEYS, TEXTS = "keyboard/key", "keyboard/type"
CLICKS = [
    Row("before-intent", "not-carried-out", []),
    Row("after-intent", UNKNOWN, []),
    Row("after-press", UNKNOWN, ["down left"], ("left",), ("up left",)),
    Row("after-events", UNKNOWN, CLICK),
    Row("after-done", "completed", CLICK),
    Row("before-report", "completed", CLICK),
]
"""One for each failpoint of the machine client."""

KEYS_AND_DRAGS = [
    Row(
        "after-press",
        UNKNOWN,
        ["down left"],
        ("left",),
        ("up left",),
        operation="mouse/drag",
        body={"start_x": 100, "start_y": 600, "to_x": 1100, "to_y": 700, "duration": 3.0},
    ),
    # A chord is one call: a kill comes before all of it or after.
    Row("after-press", UNKNOWN, CHORD, operation=KEYS, body={"text": "ctrl+alt+x"}, whole=CHORD),
    Row(
        "after-press@2",
        UNKNOWN,
        ["down ctrl", "down x"],
        ("ctrl", "X"),
        ("up x", "up ctrl"),
        operation=KEYS,
        whole=["down ctrl", "down x"],
        body={"text": "ctrl+x", "down": True},
    ),
    Row("after-press@100", UNKNOWN, TYPED[:200], operation=TEXTS, body={"text": TEXT}, whole=TYPED),
    # What was completed stays held by its user's wish, until its client dies.
    Row(
        "after-done",
        "completed",
        ["down left"],
        ("left",),
        ("up left",),
        body={**PLACE, "down": True},
        whole=["down left"],
    ),
]


class Table:
    """Kills a machine's client at the point of each row, and counts what came of it."""

    def __init__(self, machine: Machine, witness: WindowsWitness) -> None:
        self._machine = machine
        self._witness = witness
        self.counts: Counter[str] = Counter()
        self._happened: list[str] = []

    def run(self, rows: list[Row]) -> None:
        """Each row in turn, and a start that is not killed."""
        settled: Row | None = None
        for row in (*rows, None):
            with self._machine.joined(failpoints=row.armed if row else "") as client:
                client.says("connected to")
                self._machine.is_online()
                if settled is not None:
                    self._settle(settled)
                if row is not None:
                    sent = self._machine.send(row.operation, self._key(row), **row.body)
                    assert sent.status == 504, (row, sent.body)
                    assert client.ends() == KILLED
            if row is not None:
                self._look_while_nothing_runs(row)
            settled = row

    def _look_while_nothing_runs(self, row: Row) -> None:
        if row.point == "before-report":
            with self._machine.joined(failpoints="before-report=kill") as client:
                assert client.ends() == KILLED
        self.counts["kills"] += 2 if row.point == "before-report" else 1
        # Wine remembers for some milliseconds that something was up.
        eventually(lambda: self._witness.held() == {*row.held}, f"{row}: {row.held} is down")
        self._happened = strokes(self._witness.take())
        assert self._happened == row.before, row

    def _settle(self, row: Row) -> None:
        """What the start after a kill has released, and what its input is said to have become."""
        assert sorted(strokes(self._witness.take())) == sorted(row.after), row
        self.counts["left pressed after a restart"] += len(self._witness.held())
        answer = self._machine.final(row.operation, self._key(row), **row.body)
        assert kind_of(answer) == row.answer, row
        self.counts[kind_of(answer)] += 1
        if kind_of(answer) == UNKNOWN:
            # The pointer's one move is an event as well.
            assert answer.json["injected_at_least"] <= len(self._happened) + 1, row
        # Asked for twice more by now.
        happened = self._happened + strokes(self._witness.take())
        pressed, meant = (
            Counter(each for each in of if each[:3] != "up ") for of in (happened, row.whole)
        )
        self.counts["done twice"] += bool(pressed - meant)
        is_claimed = kind_of(answer) == "completed"
        self.counts["completed and not done"] += is_claimed and happened != row.whole

    def _key(self, row: Row) -> str:
        return f"{self._machine.name}-{row}"


@pytest.fixture
def table(machine: Machine, witness: WindowsWitness) -> Iterator[Table]:
    table = Table(machine, witness)
    yield table
    print(f"\ncrash table: {dict(table.counts)}")


OF_SEVERAL_ACTIONS = (
    *(Failpoint.BEFORE_BEGUN, Failpoint.AFTER_BEGUN),
    *(Failpoint.AFTER_ACTION, Failpoint.AFTER_ACTION_DONE),
)
"""An input alone does not come there; tests/end_to_end/test_batch_crashes.py has them."""

OF_ELEMENTS = (Failpoint.AFTER_FOUND,)
"""There are none on Windows; tests/end_to_end/test_element_crashes.py has them."""


def test_every_failpoint_of_the_machine_client_is_in_the_table() -> None:
    points = {row.point.partition("@")[0] for row in CLICKS}
    left_out = {*OF_SEVERAL_ACTIONS, *OF_ELEMENTS}
    passed = {point for point in Failpoint if point.side == "machine"} - left_out
    assert points == {point.value for point in passed}


@pytest.mark.timeout(400)
@pytest.mark.parametrize("rows", [CLICKS, KEYS_AND_DRAGS], ids=["clicks", "keys_and_drags"])
def test_client_killed_at_each_point_of_an_inputs_way(table: Table, rows: list[Row]) -> None:
    table.run(rows)
    assert table.counts["done twice"] == 0
    assert table.counts["completed and not done"] == 0
    assert table.counts["left pressed after a restart"] == 0
    assert table.counts["kills"] == len(rows) + any(row.point == "before-report" for row in rows)


@pytest.mark.timeout(400)
def test_client_killed_while_a_text_is_copied(machine: Machine, witness: WindowsWitness) -> None:
    """Each text was put there as often as its answer says, and outlives its client."""
    expected: dict[str, tuple[str, int]] = {
        "before-intent": ("not-carried-out", 0),
        "after-intent": (UNKNOWN, 0),
        "after-events": (UNKNOWN, 1),
        "after-done": ("completed", 1),
    }
    copied: Counter[str | None] = Counter()
    for point in expected:
        with machine.joined(failpoints=f"{point}=kill") as client:
            client.says("connected to")
            machine.is_online()
            assert machine.send("clipboard", f"{machine.name}-{point}", text=point).status == 504
            assert client.ends() == KILLED
        copied.update(witness.copied())
    with machine.joined() as client:
        client.says("connected to")
        machine.is_online()
        answers = {
            point: kind_of(machine.final("clipboard", f"{machine.name}-{point}", text=point))
            for point in expected
        }
        assert machine.get("clipboard").json == {"text": "after-done"}
    assert {point: (answers[point], copied.pop(point, 0)) for point in expected} == expected
    # Nothing else, and nothing once more when the answers were asked for.
    assert [*copied.elements(), *witness.copied()] == []
