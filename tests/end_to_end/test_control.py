"""Control of a machine on real parts: nothing of a program between taking it and giving it back."""

import re
from pathlib import Path

import pytest

from tests.desktop import Witness
from tests.end_to_end.handovers import hand_over
from tests.end_to_end.system import Workstation, presses, travels
from tests.end_to_end.test_workers import family
from tests.held import NOTHING, held_on
from tests.processes import until

HANDOVERS = 12


def unanswered(workstation: Workstation) -> int:
    """How many inputs the server's machines have been sent, and have not acknowledged."""
    metrics = workstation.api.call("GET", "/metrics").body.decode()
    (line,) = re.findall(r"^farhand_inputs_unanswered (\d+)", metrics, re.MULTILINE)
    return int(line)


@pytest.mark.timeout(180)
def test_nothing_of_programs_comes_while_a_person_has_control(
    workstation: Workstation, witness: Witness
) -> None:
    with workstation.joined() as client:
        made = hand_over(workstation.api, workstation, witness, HANDOVERS, seed=16)
        # What a program has pressed last is released here, and not by the next test's client.
        assert client.terminate() == 0
    assert made.violations == []
    assert made.given >= HANDOVERS / 2
    assert made.programs["503 controlled"]


@pytest.mark.timeout(180)
def test_nothing_of_programs_comes_through_another_worker(
    tmp_path: Path, display: str, witness: Witness
) -> None:
    with family(tmp_path) as found:
        desk = Workstation.added(found.server.url, found.api, display, tmp_path)
        with desk.joined() as client:
            made = hand_over(found.api, desk, witness, HANDOVERS, seed=17)
            assert client.terminate() == 0
    assert made.violations == []
    assert made.given >= HANDOVERS / 2


def test_taking_control_ends_what_runs_and_releases_what_is_held(
    workstation: Workstation, witness: Witness
) -> None:
    control = f"/v1/machines/{workstation.machine}/control"
    with workstation.joined():
        assert workstation.send("keyboard/key", text="shift", down=True).status == 200
        drag = {"start_x": 10, "start_y": 10, "to_x": 600, "to_y": 600, "duration": 50}
        running = workstation.begin("mouse/drag", "the-drag", **drag)
        travels(witness)
        waiting = workstation.begin("mouse/click", "the-click", x=5, y=5)
        until(lambda: unanswered(workstation) == 2, "the click waits behind the drag")
        taken = workstation.api.call("POST", control)
        assert taken.status == 201
        assert held_on(workstation.display) == NOTHING
        failed, expired = running.result(), waiting.result()
        assert (failed.status, failed.json["code"]) == (502, "interrupted")
        assert failed.json["injected_at_least"] > 1
        assert expired.status == 504
        seen = presses(witness.take())
        assert [each for each in seen if each.startswith("Button")] == [
            "ButtonPress 1",
            "ButtonRelease 1",
        ]
        # The retry gets the same answer, whoever has control.
        again = workstation.send("mouse/drag", "the-drag", **drag)
        assert (again.status, again.body) == (failed.status, failed.body)
