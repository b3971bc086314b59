"""What becomes of a machine: replaced, paused, removed, revoked, stopped, without a desktop."""

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cables import Cable
from tests.desktop import UnsteadyDisplay, Witness
from tests.end_to_end.system import Workstation, presses, sees, travels
from tests.processes import ServedApi, ServerProcess, joined, run, until


def drag(seconds: float) -> dict[str, float]:
    return {"start_x": 100, "start_y": 600, "to_x": 1100, "to_y": 700, "duration": seconds}


def test_newest_link_wins_and_the_older_client_waits_until_it_is_free(
    workstation: Workstation, witness: Witness
) -> None:
    with workstation.joined() as older:
        with joined(
            workstation.url,
            workstation.token,
            workstation.directory / "newer",
            workstation.display,
        ) as newer:
            older.says("another machine client with this token has the link")
            older.says("(4006: a newer connection with this machine's token took over")
            workstation.is_in_state("online")
            told = workstation.api.machine(workstation.machine)
            assert "took over from an earlier connection" in told["reason"]
            assert workstation.send("mouse/click", x=900, y=700).status == 200
            assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]
            assert "link closed" not in newer.output
            assert newer.terminate() == 0
        until(lambda: older.output.count("connected to") == 2, "the older client is back")
        workstation.is_in_state("online")
        assert workstation.send("mouse/click", x=900, y=700).status == 200
        assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]
        assert "Traceback" not in older.output


def test_paused_machine_takes_nothing_until_it_is_resumed(
    workstation: Workstation, witness: Witness
) -> None:
    path = f"/v1/machines/{workstation.machine}"
    with workstation.joined():
        assert workstation.api.call("PATCH", path, {"paused": True}).json["state"] == "paused"
        refused = workstation.send("mouse/click", "paused", x=900, y=700)
        assert (refused.status, refused.json["reason"]) == (503, "paused")
        assert "Retry-After" in refused.headers
        assert witness.take() == []
        workstation.api.call("PATCH", path, {"paused": False})
        assert workstation.send("mouse/click", "paused", x=900, y=700).status == 200
        assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]


def test_client_of_a_removed_machine_ends_with_a_clear_line(workstation: Workstation) -> None:
    with workstation.joined() as client:
        answer = workstation.api.call("DELETE", f"/v1/machines/{workstation.machine}")
        assert answer.status == 204
        assert client.ends() == 3
        assert re.search(r"^Error: .*(removed|revoked)", client.output, re.MULTILINE)
        assert "Traceback" not in client.output
        assert workstation.send("mouse/click", x=900, y=700).status == 404


def test_client_whose_token_was_revoked_ends_with_a_clear_line(
    workstation: Workstation,
) -> None:
    with workstation.joined() as client:
        tokens = workstation.api.call("GET", "/v1/tokens?limit=1000").json["items"]
        (token,) = [token for token in tokens if token["machine_id"] == workstation.machine]
        assert workstation.api.call("DELETE", f"/v1/tokens/{token['id']}").status == 204
        # The promise is two seconds, and no busy machine's; nothing else would ever end it.
        assert client.ends() == 3
        assert "Error: the link was closed for good (4501): the token was revoked" in client.output
    # For a moment more the server may remember the token; the link is closed all the same.
    command = ("farhand-machine", "join", "--server", workstation.url, "--token", workstation.token)
    until(
        lambda: (
            "Error: the server refused the token (HTTP 401"
            in run(*command, "--state-dir", str(workstation.directory)).stderr
        ),
        "the token is refused",
    )


def test_unknown_machine_and_one_that_never_connected_are_told_apart(
    workstation: Workstation,
) -> None:
    assert workstation.api.send("nobody", "mouse/move", {"x": 1, "y": 1}).status == 404
    absent = workstation.send("mouse/move", x=1, y=1)
    assert (absent.status, absent.json["reason"]) == (503, "offline")
    assert "never connected" in absent.json["detail"]


def test_client_that_was_stopped_in_an_orderly_way_is_shown_so(workstation: Workstation) -> None:
    with workstation.joined() as client:
        assert client.terminate() == 0
        workstation.is_in_state("offline")
        told = workstation.api.machine(workstation.machine)
        assert told["reason"] == "the machine client was stopped"


def test_client_that_is_stopped_during_a_drag_releases_the_button_and_ends_well(
    workstation: Workstation, witness: Witness
) -> None:
    with workstation.joined() as client:
        asked = workstation.begin("mouse/drag", "stopped", **drag(20))
        travels(witness)
        assert client.terminate() == 0
        assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]
        assert "stopped; nothing is held any more" in client.output
        assert "Traceback" not in client.output
        assert asked.result().status == 504
    with workstation.joined():
        retried = workstation.send("mouse/drag", "stopped", **drag(20))
    assert (retried.status, retried.json["code"]) == (502, "interrupted")
    assert retried.json["injected_at_least"] > 0


def test_held_key_and_button_are_released_when_the_client_stops(
    workstation: Workstation, witness: Witness
) -> None:
    with workstation.joined() as client:
        assert workstation.send("keyboard/key", text="shift", down=True).status == 200
        assert workstation.send("mouse/click", x=900, y=700, down=True).status == 200
        held = witness.take()
        assert [event.kind for event in held if event.kind != "MotionNotify"] == [
            "KeyPress",
            "ButtonPress",
        ]
        assert client.terminate() == 0
    released = [event for event in witness.take() if event.kind != "MotionNotify"]
    assert {str(event) for event in released} == {
        str(event).replace("Press", "Release") for event in held if event.kind != "MotionNotify"
    }


def test_client_that_is_killed_during_a_drag_leaves_an_outcome_that_stays_unknown(
    workstation: Workstation, witness: Witness
) -> None:
    with workstation.joined() as client:
        asked = workstation.begin("mouse/drag", "killed", **drag(20))
        travels(witness)
        client.kill()
        assert asked.result().status == 504
    with workstation.joined():
        assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]
        retried = workstation.send("mouse/drag", "killed", **drag(20))
        assert retried.status == 502, retried.body
        assert retried.json["type"].endswith("/outcome-unknown")
        assert retried.json["final"] is True
        assert retried.headers["Idempotency-Replayed"] == "true"
        assert workstation.send("mouse/drag", "killed", **drag(20)).body == retried.body
        assert witness.take() == []


def test_desktop_that_appears_later_is_found(
    shared_server: ServerProcess, api: ServedApi, tmp_path: Path
) -> None:
    # Not one that has ended: another X server beside these tests could be given its number.
    display = UnsteadyDisplay("800x600x24")
    workstation = Workstation.added(shared_server.url, api, display.name, tmp_path)
    with workstation.joined(state="no_input") as client:
        assert display.name in api.machine(workstation.machine)["reason"]
        refused = workstation.send("mouse/click", x=100, y=100)
        assert (refused.status, refused.json["reason"]) == (503, "no_input")
        display.start()
        try:
            late = Witness(display.name)
            workstation.is_in_state("online")
            (screen,) = api.machine(workstation.machine)["displays"]
            assert (screen["width"], screen["height"]) == (800, 600)
            assert workstation.send("mouse/click", x=100, y=100).status == 200
            assert presses(late.take()) == ["ButtonPress 1", "ButtonRelease 1"]
            late.close()
            client.terminate()
        finally:
            display.kill()


@pytest.mark.parametrize("kind", ["button", "key"])
def test_cut_link_releases_what_was_held(
    workstation: Workstation, witness: Witness, kind: str
) -> None:
    with Cable(workstation.url) as cable, workstation.joined(url=cable.url) as client:
        if kind == "button":
            assert workstation.send("mouse/click", x=900, y=700, down=True).status == 200
            expected = "ButtonRelease 1"
        else:
            assert workstation.send("keyboard/key", text="ctrl", down=True).status == 200
            (pressed,) = [event for event in witness.take() if event.kind == "KeyPress"]
            expected = f"KeyRelease {pressed.detail}"
        cable.cut()
        sees(witness, expected)
        workstation.is_in_state("offline")
        cable.mend()
        workstation.is_in_state("online")
        until(lambda: client.output.count("connected to") == 2, "the client has come back")
        assert workstation.send("mouse/click", x=900, y=700).status == 200


def test_link_that_goes_silent_is_noticed_by_both_sides(
    mongodb: str, database_name: str, display: str, tmp_path: Path, witness: Witness
) -> None:
    server = ServerProcess(
        tmp_path, heartbeat="1", mongodb_uri=mongodb, mongodb_database=database_name
    )
    with (
        server.run(),
        closing(server.api()) as api,
        Cable(server.url) as cable,
    ):
        machine = Workstation.added(server.url, api, display, tmp_path)
        with machine.joined(url=cable.url, heartbeat="1") as client:
            press: dict[str, Any] = {"x": 900, "y": 700, "down": True}
            # Who is busy for a second has lost the link already, and come back.
            until(lambda: machine.send("mouse/click", **press).status == 200, "a button is down")
            cable.hold()
            sees(witness, "ButtonRelease 1")
            machine.is_in_state("offline")
            before = client.output.count("connected to")
            cable.cut()
            cable.mend()
            machine.is_in_state("online")
            until(lambda: client.output.count("connected to") > before, "the client has come back")


def test_client_that_is_stopped_in_a_long_text_ends_at_once_and_says_how_far_it_came(
    workstation: Workstation, witness: Witness
) -> None:
    """The text alone would take minutes: the layout lacks its characters."""
    text = {"text": "жщ" * 250}
    with workstation.joined() as client:
        workstation.begin("keyboard/type", "long", **text)
        until(lambda: any(each.kind == "KeyPress" for each in witness.seen()), "it is typed")
        assert client.terminate() == 0
    with workstation.joined():
        answer = workstation.send("keyboard/type", "long", **text)
    assert (answer.status, answer.json["code"], answer.json["final"]) == (502, "interrupted", True)
    kinds = [event.kind for event in witness.take()]
    assert 0 < answer.json["injected_at_least"] <= len(kinds)
    assert kinds.count("KeyPress") == kinds.count("KeyRelease")
