"""Machines on Wayland and on a VNC server: what a retry gets after each crash, and what is seen.

The rows of docs/design/at-most-once.md that are the machine client's, on a headless sway and on
Xvnc, and what comes of a desktop that ends or stands still in the middle of an input.
"""

import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end import other_desktops
from tests.end_to_end.other_desktops import KINDS, OtherDesktop, holds_only, sees
from tests.end_to_end.system import Workstation
from tests.machine_client.desktop.contract.rig import Witness, strokes
from tests.processes import Answer, kind_of
from tests.waiting import eventually

PLACE = {"x": 900, "y": 700}
CLICK = ["down left", "up left"]
DRAG: dict[str, Any] = {"start_x": 100, "start_y": 600, "to_x": 1100, "to_y": 700}
TEXT = "abcdefghij" * 20
TYPED = [stroke for letter in TEXT for stroke in (f"down {letter}", f"up {letter}")]


@pytest.fixture(scope="module", params=KINDS)
def desktop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OtherDesktop]:
    """One that no test ends."""
    with other_desktops.running(request.param, tmp_path_factory.mktemp("desktop")) as desktop:
        yield desktop


@pytest.fixture(scope="module")
def session_witness(desktop: OtherDesktop) -> Iterator[Witness]:
    with desktop.watched() as witness:
        yield witness


@pytest.fixture
def machine(workstation: Workstation, desktop: OtherDesktop) -> Workstation:
    """One on that desktop, of the test's own."""
    return desktop.machine(workstation)


@pytest.fixture(params=KINDS)
def mortal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OtherDesktop]:
    """One that the test ends or freezes."""
    with other_desktops.running(request.param, tmp_path) as desktop:
        yield desktop


def final(machine: Workstation, operation: str, key: str, **body: Any) -> Answer:
    """Send the same input until its answer is final; then once more: it stays the same."""

    def answer() -> Answer | None:
        given = machine.send(operation, key, **body)
        is_final = given.status == 200 or given.json.get("final") is True
        return given if is_final else None

    answer_ = eventually(answer, "the answer is final")
    again = machine.send(operation, key, **body)
    assert (again.status, again.body) == (answer_.status, answer_.body)
    return answer_


@dataclass(frozen=True)
class Row:
    """An input, where its client is killed, and what is to come of it.

    ``before`` is what happened until the next start, the releases of the desktop's own included;
    ``held`` what was down then; ``after`` what the next start released.
    """

    point: str
    answer: str
    before: list[str]
    held: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    operation: str = "mouse/click"

    def where_nothing_stays(self) -> "Row":
        """The same on a desktop that lets go of buttons too when their client is gone."""
        return replace(self, before=[*self.before, *self.after], held=(), after=())

    @property
    def body(self) -> dict[str, Any]:
        if self.operation == "keyboard/type":
            return {"text": TEXT}
        if self.operation == "keyboard/key":
            return {"text": "ctrl+alt+x"}
        return PLACE

    def __str__(self) -> str:
        return f"{self.operation}-{self.point}".replace("/", "-")


ROWS = [
    Row("before-intent", "not-carried-out", []),
    Row("after-intent", "outcome-unknown", []),
    Row("after-press", "outcome-unknown", ["down left"], ("left",), ("up left",)),
    Row("after-events", "outcome-unknown", CLICK),
    Row("after-done", "completed", CLICK),
    Row("before-report", "completed", CLICK),
    # On both desktops keys go up with their client.  Buttons do not, but on a newer Xvnc.
    Row(
        "after-press@3",
        "outcome-unknown",
        ["down ctrl", "down alt", "down x", "up alt", "up ctrl", "up x"],
        operation="keyboard/key",
    ),
    Row("after-press@100", "outcome-unknown", TYPED[:200], operation="keyboard/type"),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_client_killed_on_an_inputs_way(
    machine: Workstation, witness: Witness, desktop: OtherDesktop, row: Row
) -> None:
    key = f"{machine.machine}-{row}"
    if not desktop.keeps_buttons:
        row = row.where_nothing_stays()
    point, _, passes = row.point.partition("@")
    first = "after-done" if point == "before-report" else point
    with machine.joined(failpoints=f"{first}=kill@{passes or 1}") as killed:
        assert machine.send(row.operation, key, **row.body).status == 504
        assert killed.ends() == -signal.SIGKILL
    if point == "before-report":
        with machine.joined(state="offline", failpoints="before-report=kill") as killed:
            assert killed.ends() == -signal.SIGKILL
    holds_only(witness, *row.held)
    happened = strokes(witness.take())
    downs = sum(stroke.startswith("down") for stroke in row.before)
    # In which order a desktop lets go of several keys is its own affair.
    assert happened[:downs] == row.before[:downs]
    assert sorted(happened[downs:]) == sorted(row.before[downs:])
    with machine.joined():
        assert strokes(witness.take()) == [*row.after]
        assert witness.held() == frozenset()
        answer = final(machine, row.operation, key, **row.body)
    assert kind_of(answer) == row.answer
    if row.answer == "outcome-unknown":
        assert answer.json["injected_at_least"] <= len(happened)
    assert strokes(witness.take()) == []


def test_drag_whose_client_is_killed_is_unknown_and_ends_with_the_next_start(
    machine: Workstation, witness: Witness, desktop: OtherDesktop
) -> None:
    key = f"{machine.machine}-drag"
    with machine.joined() as client:
        drag = machine.begin("mouse/drag", key, **DRAG, duration=20)
        sees(witness, 60)
        client.kill()
    assert drag.result().status == 504
    holds_only(witness, *(["left"] if desktop.keeps_buttons else []))
    happened = witness.take()
    assert strokes(happened) == (["down left"] if desktop.keeps_buttons else CLICK)
    with machine.joined() as client:
        assert witness.held() == frozenset()
        released = witness.take()
        assert strokes(released) == (["up left"] if desktop.keeps_buttons else [])
        at = desktop.lets_go_at or (happened[-1].x, happened[-1].y)
        assert {(each.x, each.y) for each in released} == {at}
        tells = "had left pressed: the left button" in client.output
        assert tells == desktop.tells_left_pressed
        answer = final(machine, "mouse/drag", key, **DRAG, duration=20)
    assert kind_of(answer) == "outcome-unknown"
    assert 0 < answer.json["injected_at_least"] <= len(happened)
    assert witness.take() == []


def test_what_is_held_goes_up_when_the_client_stops(machine: Workstation, witness: Witness) -> None:
    with machine.joined() as client:
        assert machine.send("mouse/click", None, **PLACE, down=True).status == 200
        assert machine.send("keyboard/key", None, text="ctrl+x", down=True).status == 200
        assert len(witness.held()) == 3
        client.terminate()
    holds_only(witness)


def works(machine: Workstation, witness: Witness) -> None:
    """An input happens once and whole, and the machine says that it is well."""
    machine.is_in_state("online")
    witness.take()
    assert machine.send("mouse/click", f"{machine.machine}-works", **PLACE).status == 200
    assert strokes(witness.take()) == CLICK
    assert witness.held() == frozenset()


def reason_of(machine: Workstation) -> str:
    """Why nothing can be put in, as everybody is told."""
    view = machine.api.machine(machine.machine)
    assert view["state"] == "no_input", view
    return str(view["reason"])


def test_desktop_that_is_killed_in_a_drag_fails_it_and_is_found_when_it_is_back(
    workstation: Workstation, mortal: OtherDesktop
) -> None:
    machine = mortal.machine(workstation)
    key = f"{machine.machine}-drag"
    with machine.joined(desktop_check="0.2") as client:
        with mortal.watched() as witness:
            drag = machine.begin("mouse/drag", key, **DRAG, duration=30)
            sees(witness, 60)
        mortal.program.kill()
        failed = drag.result()
        assert (failed.status, failed.json["code"]) == (502, "display_lost"), failed.body
        assert failed.json["injected_at_least"] >= 50
        machine.is_in_state("no_input")
        assert {"wayland": "Wayland", "vnc": "VNC server"}[mortal.name] in reason_of(machine)
        refused = machine.send("mouse/move", None, x=1, y=1)
        assert (refused.status, refused.json["reason"]) == (503, "no_input")
        mortal.program.start()
        with mortal.watched() as witness:
            works(machine, witness)
            again = machine.send("mouse/drag", key, **DRAG, duration=30)
            assert (again.status, again.body) == (502, failed.body)
            assert witness.take() == []
        assert client.output.count("connected to") == 1
        assert "Traceback" not in client.output


def test_desktop_that_stands_still_in_a_drag_is_told_and_the_drag_goes_on_with_it(
    workstation: Workstation, mortal: OtherDesktop
) -> None:
    machine = mortal.machine(workstation)
    key = f"{machine.machine}-drag"
    with mortal.watched() as witness, machine.joined(desktop_check="0.2") as client:
        drag = machine.begin("mouse/drag", key, **DRAG, duration=4)
        sees(witness, 20)
        mortal.freeze()
        machine.is_in_state("no_input")
        assert "has not answered" in reason_of(machine)
        assert not drag.done()
        mortal.thaw()
        answer = drag.result()
        assert (answer.status, answer.json["pointer"]) == (200, {"x": 1100, "y": 700})
        assert strokes(witness.take()) == CLICK
        works(machine, witness)
        assert machine.send("mouse/drag", key, **DRAG, duration=4).body == answer.body
        assert witness.take() == []
        assert client.output.count("connected to") == 1
