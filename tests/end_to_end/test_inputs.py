"""Each of the operations, from an HTTP request to the X server and back."""

from collections.abc import Iterator
from concurrent.futures import wait
from pathlib import Path
from typing import Any

import pytest

from tests.desktop import DeviceEvent, Terminal, Witness
from tests.end_to_end.system import System, Workstation, presses
from tests.processes import Answer, Program, ServedApi, ServerProcess, until


@pytest.fixture(scope="module")
def desk(
    shared_server: ServerProcess,
    api: ServedApi,
    display: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Workstation]:
    """A machine that stays connected for all tests here."""
    workstation = Workstation.added(
        shared_server.url, api, display, tmp_path_factory.mktemp("desk")
    )
    with workstation.joined():
        yield workstation


def acknowledged(answer: Answer, operation: str, x: int, y: int) -> None:
    """The answer says that the operation was carried out and where the pointer is."""
    assert answer.status == 200, answer.body
    result = answer.json
    assert (result["operation"], result["status"]) == (operation, "completed")
    assert result["pointer"] == {"x": x, "y": y}
    assert result["accepted_at"] <= result["completed_at"]


def places(events: list[DeviceEvent]) -> list[tuple[int, int]]:
    return [(event.x, event.y) for event in events]


def test_move_puts_the_pointer_there(desk: Workstation, witness: Witness) -> None:
    acknowledged(desk.send("mouse/move", x=321, y=123), "mouse.move", 321, 123)
    events = witness.take()
    assert {event.kind for event in events} == {"MotionNotify"}
    assert places(events)[-1] == (321, 123)


@pytest.mark.parametrize(("button", "number"), [("left", 1), ("middle", 2), ("right", 3)])
def test_click_presses_as_often_as_asked_where_asked(
    desk: Workstation, witness: Witness, button: str, number: int
) -> None:
    answer = desk.send("mouse/click", x=900, y=700, button=button, clicks=2)
    acknowledged(answer, "mouse.click", 900, 700)
    events = witness.take()
    assert presses(events) == [f"ButtonPress {number}", f"ButtonRelease {number}"] * 2
    assert places(events)[-4:] == [(900, 700)] * 4


def test_button_is_held_from_down_to_up(desk: Workstation, witness: Witness) -> None:
    desk.send("mouse/click", x=900, y=700, down=True)
    assert presses(witness.take()) == ["ButtonPress 1"]
    desk.send("mouse/move", x=910, y=710)
    assert presses(witness.take()) == []
    desk.send("mouse/click", down=False)
    assert presses(witness.take()) == ["ButtonRelease 1"]


@pytest.mark.parametrize(
    ("direction", "button"), [("up", 4), ("down", 5), ("left", 6), ("right", 7)]
)
def test_scroll_turns_one_notch_for_each_step(
    desk: Workstation, witness: Witness, direction: str, button: int
) -> None:
    answer = desk.send("mouse/scroll", direction=direction, amount=3, x=900, y=650)
    acknowledged(answer, "mouse.scroll", 900, 650)
    assert presses(witness.take()) == [f"ButtonPress {button}", f"ButtonRelease {button}"] * 3


def test_scroll_of_nothing_is_acknowledged_and_turns_nothing(
    desk: Workstation, witness: Witness
) -> None:
    assert desk.send("mouse/scroll", direction="up", amount=0).status == 200
    assert witness.take() == []


def test_drag_travels_from_start_to_end_with_the_button_down(
    desk: Workstation, witness: Witness
) -> None:
    answer = desk.send(
        "mouse/drag", start_x=600, start_y=500, to_x=1000, to_y=700, duration=0.3, button="right"
    )
    acknowledged(answer, "mouse.drag", 1000, 700)
    assert answer.json["duration_ms"] >= 300
    events = witness.take()
    kinds = [event.kind for event in events]
    pressed, released = kinds.index("ButtonPress"), kinds.index("ButtonRelease")
    assert presses(events) == ["ButtonPress 3", "ButtonRelease 3"]
    assert (places(events)[pressed], places(events)[released]) == ((600, 500), (1000, 700))
    between = places(events)[pressed + 1 : released]
    assert len(between) >= 5
    assert between == sorted(between)


def test_gesture_is_one_input_on_the_pixels_of_a_picture(
    desk: Workstation, witness: Witness
) -> None:
    size = {"width": 640, "height": 400}
    body: dict[str, Any] = {"x": 100, "y": 50, "in": size, "modifiers": ["ctrl"], "button": "back"}
    acknowledged(desk.send("mouse/click", **body), "mouse.click", 201, 101)
    events = witness.take()
    ctrl = events[0].detail
    assert presses(events) == [
        *(f"KeyPress {ctrl}", "ButtonPress 8"),
        *("ButtonRelease 8", f"KeyRelease {ctrl}"),
    ]
    path = [{"x": x, "y": y} for x, y in ((50, 60), (600, 60), (600, 390))]
    drag: dict[str, Any] = {
        "start_x": 1,
        "start_y": 1,
        "to_x": 1,
        "to_y": 399,
        "path": path,
        "in": size,
    }
    acknowledged(desk.send("mouse/drag", **drag), "mouse.drag", 3, 799)
    corners = [(101, 121), (1201, 121), (1201, 781)]
    assert [place for place in places(witness.take()) if place in corners] == corners


def test_keys_are_held_as_long_and_as_often_as_asked(desk: Workstation, witness: Witness) -> None:
    answer = desk.send("keyboard/key", text="shift+F5", hold=0.2, repeat=3)
    assert answer.status == 200, answer.body
    assert answer.json["duration_ms"] >= 600
    kinds = [event.kind for event in witness.take()]
    assert kinds == (["KeyPress"] * 2 + ["KeyRelease"] * 2) * 3


def test_key_combination_presses_in_order_and_releases_in_reverse(
    desk: Workstation, witness: Witness
) -> None:
    answer = desk.send("keyboard/key", text="ctrl+shift+a")
    assert answer.status == 200, answer.body
    kinds = [event.kind for event in witness.take()]
    assert kinds == ["KeyPress"] * 3 + ["KeyRelease"] * 3


def test_typed_text_reaches_a_terminal(desk: Workstation, display: str, tmp_path: Path) -> None:
    with Terminal.open(display, tmp_path) as terminal:
        for text in ("H e l l o comma space W o r l d exclam", "ü € plus minus", "Return"):
            answer = desk.send("keyboard/key", text=text)
            assert answer.status == 200, answer.body
        assert terminal.typed_before("\r") == "Hello, World!ü€+-"
        typed = {"text": "Zoë + 漢字\n"}
        first = desk.api.send(desk.machine, "keyboard/type", typed, "typed-once")
        again = desk.api.send(desk.machine, "keyboard/type", typed, "typed-once")
        assert (first.status, again.body) == (200, first.body)
        assert terminal.typed_before("\r") == "Zoë + 漢字"


def test_long_text_arrives_whole(desk: Workstation, display: str, tmp_path: Path) -> None:
    text = " ".join(str(number) for number in range(2000))[:9998] + "漢"
    with Terminal.open(display, tmp_path) as terminal:
        # A busy machine may need longer for it than one answer may take.
        until(
            lambda: desk.send("keyboard/type", "a-long-text", text=f"{text}\n").status == 200,
            "all of it is typed",
        )
        assert terminal.typed_before("\r") == text


def test_typed_text_and_tokens_are_in_no_log(
    desk: Workstation, shared_server: ServerProcess
) -> None:
    """Neither what was typed, nor what could not be, nor what let anybody in."""
    assert desk.send("keyboard/key", text="t 0 p s e c r e t").status == 200
    assert desk.send("keyboard/key", text="T0psecret+T0psecret").status == 422
    assert desk.send("keyboard/type", text="T0psecret").status == 200
    assert desk.send("keyboard/type", text="T0psecret\x1b").status == 422
    log = (shared_server.directory / "server.log").read_text()
    log += (desk.directory / "machine.log").read_text()
    assert desk.machine in log
    secrets = ["t 0 p s", "T0psecret", desk.token]
    secrets.append((shared_server.directory / "data" / "admin-token").read_text().strip())
    assert [secret for secret in secrets if secret in log] == []


def test_place_outside_the_display_is_refused_with_the_bounds_and_nothing_happens(
    desk: Workstation, witness: Witness
) -> None:
    answer = desk.send("mouse/click", x=1280, y=10)
    assert answer.status == 422
    (entry,) = answer.json["detail"]
    assert entry["loc"] == ["body", "x"]
    assert entry["ctx"]["displays"] == [{"x": 0, "y": 0, "width": 1280, "height": 800}]
    assert witness.take() == []


def test_body_that_is_wrong_reaches_no_machine(desk: Workstation, witness: Witness) -> None:
    assert desk.send("mouse/click", x=1, y=1, clicks=4).status == 422
    assert desk.send("keyboard/key", text="ctrl+nonsense").status == 422
    assert witness.take() == []


def test_retry_after_the_answer_gets_the_first_answer_and_presses_nothing(
    desk: Workstation, witness: Witness
) -> None:
    first = desk.send("mouse/click", "retry", x=900, y=700)
    assert first.status == 200
    witness.take()
    again = desk.send("mouse/click", "retry", x=900, y=700)
    assert (again.status, again.body) == (first.status, first.body)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert witness.take() == []


def test_identical_requests_at_once_with_one_key_press_once(
    desk: Workstation, witness: Witness
) -> None:
    asked = [desk.begin("mouse/click", "at-once", x=901, y=701) for _ in range(6)]
    wait(asked)
    answers = [future.result() for future in asked]
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 1
    replayed = [answer.headers.get("Idempotency-Replayed") for answer in answers]
    assert sorted(replayed, key=str) == [None] + ["true"] * 5
    assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]


def test_many_inputs_at_once_each_happen_once(desk: Workstation, witness: Witness) -> None:
    asked = [desk.begin("mouse/click", f"many-{number}", x=902, y=702) for number in range(24)]
    assert {future.result().status for future in asked} == {200}
    assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"] * 24


def test_key_for_another_request_is_refused(desk: Workstation, witness: Witness) -> None:
    assert desk.send("mouse/click", "twice", x=900, y=700).status == 200
    witness.take()
    other = desk.send("mouse/click", "twice", x=901, y=700)
    assert other.status == 422
    assert other.json["detail"][0]["loc"] == ["header", "Idempotency-Key"]
    assert witness.take() == []


def test_drag_longer_than_two_heartbeats_keeps_the_link(
    mongodb: str, database_name: str, display: str, tmp_path: Path, witness: Witness
) -> None:
    server = ServerProcess(
        tmp_path, heartbeat="4", mongodb_uri=mongodb, mongodb_database=database_name
    )
    with System.running(server, display, heartbeat="4") as system:
        answer = system.workstation.send(
            "mouse/drag", start_x=10, start_y=600, to_x=1200, to_y=700, duration=10
        )
        assert answer.status == 200, answer.body
        assert answer.json["duration_ms"] >= 10_000
        assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]
        assert_never_parted(system.client)


def assert_never_parted(client: Program) -> None:
    assert client.output.count("connected to") == 1
    assert "link closed" not in client.output
