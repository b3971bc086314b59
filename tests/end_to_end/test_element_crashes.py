"""What is asked of elements, through crashes and changes in the worst moments.

The machine client and the server are killed at named points of an input that names an element, and
of several; and the client is halted exactly between finding an element and pressing it, while the
program changes.  The program's own record of what was done to it is the witness.
"""

import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from typing import Any

import pytest

from tests.end_to_end.conftest import SHORT
from tests.end_to_end.system import Workstation, final_of
from tests.end_to_end.test_batch_crashes import Told, ended, told, unknown
from tests.machine_client.desktop.accessibility.rig import AccessibleDesktop, accessible_desktop
from tests.machine_client.desktop.accessibility.rig import Program as Shown
from tests.processes import Answer, ServerProcess, go_on, kind_of, state_of, until

SAVE = {"element": {"role": "push button", "name": "Save"}}


@pytest.fixture(scope="module")
def accessible() -> Iterator[AccessibleDesktop]:
    with accessible_desktop() as desktop:
        yield desktop


@pytest.fixture(scope="module")
def server(mongodb: str, tmp_path_factory: pytest.TempPathFactory) -> ServerProcess:
    directory = tmp_path_factory.mktemp("element-crashes")
    database = {"mongodb_uri": mongodb, "mongodb_database": directory.name}
    return ServerProcess(directory, **SHORT, **database)


@pytest.fixture(scope="module")
def workstation(
    server: ServerProcess,
    accessible: AccessibleDesktop,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Workstation]:
    """A machine that was added before; neither program runs."""
    directory = tmp_path_factory.mktemp("machine")
    with server.run():
        api = server.api()
        added = Workstation.added(server.url, api, accessible.display, directory)
    with closing(api):
        yield added


def three(number: int) -> list[Mapping[str, Any]]:
    """What is asked of three elements, each in its own way."""
    return [
        {
            "operation": "element.invoke",
            "element": {"role": "push button", "name": f"Button {number % 6}"},
        },
        {"operation": "mouse.click", **SAVE},
        {"operation": "element.set_value", "element": {"name": "Total"}, "value": f"of {number}"},
    ]


def done(number: int, count: int) -> list[str]:
    """What the program says of it once so many of the three are done."""
    said = [f"clicked Button {number % 6}", "clicked Save", f"changed of {number}"]
    return said[:count]


ENDED: Told = ("completed", 3, "")

# At which pass of which point the machine client is killed, what a retry says, and how many of the
# three are done.  The button that was pressed the next client releases: then it is clicked.
KILLS: dict[str, tuple[Told, int]] = {
    "after-intent": (unknown(0), 0),
    "after-found": (unknown(0), 0),
    "after-press": (unknown(0), 1),
    "after-action-done": (ended(1), 1),
    "after-begun@2": (unknown(1), 1),
    "after-found@2": (unknown(1), 1),
    "after-press@2": (unknown(1), 2),
    "after-action@2": (unknown(1), 2),
    "after-found@3": (unknown(2), 2),
    "after-press@3": (unknown(2), 3),
    "after-events": (unknown(2), 3),
    "after-done": (ENDED, 3),
}

SOME = ("after-found", "after-press", "after-press@2", "after-press@3")
"""What differs between toolkits, if anything does."""


@pytest.mark.parametrize(("toolkit", "points"), [("gtk3", [*KILLS]), ("qt5", [*SOME])])
def test_machine_client_killed_on_the_way_of_what_is_asked_of_elements(
    server: ServerProcess,
    workstation: Workstation,
    accessible: AccessibleDesktop,
    toolkit: str,
    points: list[str],
) -> None:
    """Each client is there for what became of the request that the one before was killed in."""
    found: dict[str, tuple[Told, list[str]]] = {}
    with getattr(accessible, toolkit)() as shown, server.run():
        for number, point in enumerate([*points, ""]):
            with workstation.joined(failpoints=_killed_at(point)) as client:
                if number:
                    before, acts = points[number - 1], three(number - 1)
                    answer = final_of(lambda: workstation.act(acts, f"{toolkit}-{before}"))  # noqa: B023
                    # Qt does what a button is there for a moment after it has said so.
                    found[before] = told(answer), sorted(shown.said)
                if point:
                    answer = workstation.act(three(number), f"{toolkit}-{point}")
                    assert answer.status == 504, answer.body
                    assert client.ends() == -signal.SIGKILL
    assert found == {
        point: (KILLS[point][0], sorted(done(number, KILLS[point][1])))
        for number, point in enumerate(points)
    }


def _killed_at(point: str) -> str:
    name, _, number = point.partition("@")
    return point and f"{name}=kill@{number or 1}"


# The same of one input alone: what it asks, where the client is killed, what is said, and what the
# program says.  One that is busy with a question of its own has begun what it was asked for.
KILLS_OF_ONE: list[tuple[str, str, str, str, list[str]]] = [
    ("element/invoke", "Save", "after-found", "outcome-unknown", []),
    ("mouse/click", "Save", "after-found", "outcome-unknown", []),
    ("element/invoke", "Save", "after-events", "outcome-unknown", ["clicked Save"]),
    ("element/invoke", "Save", "after-done", "completed", ["clicked Save"]),
    ("element/invoke", "Talk", "after-press", "outcome-unknown", ["clicked Talk"]),
]


def test_machine_client_killed_on_the_way_of_one_input_that_names_an_element(
    server: ServerProcess, workstation: Workstation, accessible: AccessibleDesktop
) -> None:
    found = []
    with accessible.gtk3() as shown, server.run():
        for number, point in enumerate([*(row[2] for row in KILLS_OF_ONE), ""]):
            with workstation.joined(failpoints=_killed_at(point)) as client:
                if number:
                    answer = final_of(lambda: _one(workstation, number - 1))  # noqa: B023
                    found.append((*KILLS_OF_ONE[number - 1][:3], kind_of(answer), shown.said))
                if point:
                    assert _one(workstation, number).status == 504
                    assert client.ends() == -signal.SIGKILL
    assert found == KILLS_OF_ONE


def _one(workstation: Workstation, number: int) -> Answer:
    operation, name, *_ = KILLS_OF_ONE[number]
    element = {"role": "push button", "name": name}
    return workstation.send(operation, f"one-{number}", element=element)


# At which point the server is killed; what a retry says, and how many of the three are done.
KILLS_OF_SERVERS: dict[str, tuple[Told, int]] = {
    "after-sent": (("not-carried-out", 0, ""), 0),
    "after-ack": (ENDED, 3),
}


def test_server_killed_before_and_after_what_is_asked_of_elements(
    server: ServerProcess, workstation: Workstation, accessible: AccessibleDesktop
) -> None:
    with accessible.gtk3() as shown, ExitStack() as stack:
        for number, point in enumerate(KILLS_OF_SERVERS):
            with server.run(failpoints=f"{point}=kill") as program:
                if number == 0:
                    stack.enter_context(workstation.joined())
                workstation.is_in_state("online")
                with pytest.raises(OSError):  # noqa: PT011 - reset or closed, as the system likes
                    workstation.act(three(number), point)
                assert program.ends() == -signal.SIGKILL
        with server.run():
            for number, (point, (expected, _)) in enumerate(KILLS_OF_SERVERS.items()):
                answer = final_of(lambda: workstation.act(three(number), point))  # noqa: B023
                assert (point, told(answer)) == (point, expected)
        counts = [count for _, count in KILLS_OF_SERVERS.values()]
        assert shown.said == [said for each in map(done, range(2), counts) for said in each]


Request = tuple[str, Mapping[str, Any]]
CLICK: Request = ("mouse/click", SAVE)
INVOKE: Request = ("element/invoke", SAVE)

# What is asked, how the program changes once the element is found, how it changes back, what is
# answered, and what the program says was done to it.
CHANGES: list[tuple[Request, str, str, str, list[str]]] = [
    (CLICK, "hide Save", "show Save", "element-missing", []),
    (CLICK, "disable Save", "enable Save", "element-missing", []),
    (CLICK, "move 330 150", "move 100 80", "completed", ["clicked Save"]),
    (INVOKE, "rename Save to Delete", "nothing", "element-missing", []),
]


def test_element_that_vanishes_changes_or_moves_between_being_found_and_pressed(
    server: ServerProcess, workstation: Workstation, accessible: AccessibleDesktop
) -> None:
    """What is where it was is not pressed for it, and nothing is unknown."""
    with accessible.gtk3() as shown, server.run():
        for number, ((operation, body), change, back, kind, said) in enumerate(CHANGES):
            key = f"change-{number}"
            with workstation.joined(failpoints="after-found=stop") as client:
                asked = workstation.begin(operation, key, **body)
                _changes_while_halted(client.process.pid, shown, change)
                assert (change, kind_of(asked.result()), shown.said) == (change, kind, said)
                shown.tell(back)
                again = final_of(lambda: workstation.send(operation, key, **body))  # noqa: B023
                assert (again.status, shown.said) == (asked.result().status, [])


def test_element_of_several_actions_that_vanishes_once_it_is_found_stops_the_rest(
    server: ServerProcess, workstation: Workstation, accessible: AccessibleDesktop
) -> None:
    with accessible.gtk3() as shown, server.run():
        with workstation.joined(failpoints="after-found=stop@2") as client:
            asked = workstation.begin_to_act(three(1), "vanishes")
            said = _changes_while_halted(client.process.pid, shown, "hide Save")
            assert told(asked.result()) == ("actions-stopped", 1, "not_seen")
            shown.tell("show Save")
            again = final_of(lambda: workstation.act(three(1), "vanishes"))
            assert again.body == asked.result().body
        assert (said, shown.said) == (done(1, 1), [])


def _changes_while_halted(client: int, shown: Shown, change: str) -> list[str]:
    """Have a program change while the client stands still; what it said before."""
    until(lambda: state_of(client) == "T", "the machine client is halted")
    said = shown.tell(change)
    go_on(client)
    return said
