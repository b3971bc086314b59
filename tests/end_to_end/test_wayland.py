"""A machine on Wayland: what a retry gets after each crash of its client, and what is seen of it.

The rows of docs/at-most-once.md that are the machine client's, on a headless sway.
"""

import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.desktop import eventually
from tests.end_to_end.system import Workstation
from tests.machine_client.desktop.contract.rig import Seen
from tests.machine_client.desktop.wayland.compositor import Sway, sway
from tests.machine_client.desktop.wayland.rig import WaylandWitness
from tests.processes import Answer, until

PLACE = {"x": 900, "y": 700}
CLICK = ["down left", "up left"]


@pytest.fixture(scope="module")
def compositor() -> Iterator[Sway]:
    with sway() as compositor:
        yield compositor


@pytest.fixture(scope="module")
def witness(compositor: Sway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WaylandWitness]:
    witness = WaylandWitness(compositor, tmp_path_factory.mktemp("typed"))
    yield witness
    witness.close()


@pytest.fixture
def machine(workstation: Workstation, compositor: Sway, witness: WaylandWitness) -> Workstation:
    """One on Wayland, of the test's own."""
    witness.take()
    return replace(workstation, display=compositor.name)


def presses(events: list[Seen]) -> list[str]:
    return [f"{each.action} {min(each.names)}" for each in events if each.action != "move"]


def final(machine: Workstation, key: str) -> Answer:
    """Send the same click until its answer is final."""

    def answer() -> Answer | None:
        given = machine.send("mouse/click", key, **PLACE)
        is_final = given.json.get("final") is True
        return given if given.status == 200 or is_final else None

    return eventually(answer, "the answer is final")


@pytest.mark.parametrize(
    ("point", "status", "before", "after"),
    [
        ("before-intent", 503, [], []),
        ("after-intent", 502, [], []),
        ("after-press", 502, ["down left"], ["up left"]),
        ("after-events", 502, CLICK, []),
        ("after-done", 200, CLICK, []),
        ("before-report", 200, CLICK, []),
    ],
)
def test_client_killed_on_an_inputs_way(
    machine: Workstation,
    witness: WaylandWitness,
    point: str,
    status: int,
    before: list[str],
    after: list[str],
) -> None:
    key = f"{machine.machine}-{point}"
    first = "after-done" if point == "before-report" else point
    with machine.joined(failpoints=f"{first}=kill") as killed:
        assert machine.send("mouse/click", key, **PLACE).status == 504
        assert killed.ends() == -signal.SIGKILL
    if point == "before-report":
        with machine.joined(state="offline", failpoints="before-report=kill") as killed:
            assert killed.ends() == -signal.SIGKILL
    assert presses(witness.take()) == before
    with machine.joined():
        assert presses(witness.take()) == after
        assert witness.held() == frozenset()
        answer = final(machine, key)
        again = machine.send("mouse/click", key, **PLACE)
    assert (answer.status, answer.body) == (status, again.body)
    assert presses(witness.take()) == []


def test_what_is_held_goes_up_when_the_client_stops(
    machine: Workstation, witness: WaylandWitness
) -> None:
    with machine.joined() as client:
        assert machine.send("mouse/click", None, **PLACE, down=True).status == 200
        assert machine.send("keyboard/key", None, text="ctrl+x", down=True).status == 200
        assert len(witness.held()) == 3
        client.terminate()
    assert witness.held() == frozenset()


def test_machine_whose_compositor_ends_and_comes_back_says_so(
    workstation: Workstation, tmp_path: Path
) -> None:
    with sway() as compositor:
        machine = replace(workstation, display=compositor.name)
        with machine.joined(desktop_check="1"):
            assert machine.send("keyboard/type", None, text="a漢").status == 200
            compositor.kill()
            until(
                lambda: machine.send("mouse/move", None, x=1, y=1).status == 503,
                "there is no way to inject",
            )
            refused = machine.send("mouse/move", None, x=1, y=1)
            assert "Wayland" in refused.json["detail"], refused.json
            compositor.start()
            until(
                lambda: machine.send("mouse/move", None, x=1, y=1).status == 200,
                "the compositor that is back is worked on",
            )
