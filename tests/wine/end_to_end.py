"""A machine of Windows, under Wine, driven by HTTP: a server here, its machine client there.

What a person would try first.
"""

import contextlib
import io
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from tests.machine_client.desktop.contract.rig import strokes
from tests.machine_client.desktop.windows.rig import WindowsWitness
from tests.processes import ServerProcess, running, until
from tests.wine.interpreter import windows_path
from tests.wine.machines import CLICK, PLACE, SETTINGS, Machine

ACT = Path(__file__).parents[2] / "docs" / "guide" / "act.py"

OPERATIONS: tuple[tuple[str, dict[str, object]], ...] = (
    ("mouse/move", {"x": 10, "y": 20}),
    ("mouse/click", {**PLACE, "clicks": 2}),
    ("mouse/scroll", {"direction": "down", "amount": 3}),
    ("mouse/drag", {"start_x": 1, "start_y": 2, "to_x": 90, "to_y": 80}),
    ("keyboard/key", {"text": "ctrl+a"}),
    ("keyboard/type", {"text": "Hello ÄёП漢 +@€"}),
)


def test_every_operation_is_carried_out_and_the_screen_is_seen(
    machine: Machine, witness: WindowsWitness
) -> None:
    with machine.joined() as client:
        client.says("connected to")
        machine.is_online()
        for operation, body in OPERATIONS:
            answer = machine.send(operation, None, **body)
            assert (answer.status, answer.json.get("status")) == (200, "completed"), answer.body
        lacking = machine.send("keyboard/key", text="undo")
        assert (lacking.status, lacking.json["detail"][0]["type"]) == (422, "key_not_typeable")
        picture = machine.get("display/screenshot")
        assert picture.status == 200
        assert Image.open(io.BytesIO(picture.body)).size == (1280, 800)
        assert machine.send("clipboard", text="Grüße\n漢").status == 200
        assert machine.get("clipboard").json == {"text": "Grüße\n漢"}
        assert machine.api.machine(machine.name)["desktop"] == "windows"
    assert witness.held() == frozenset()
    assert strokes(witness.take())[:7] == [*CLICK * 2, *["wheel down"] * 3]


def test_guides_program_opens_a_window_types_into_it_and_has_the_picture(
    machine: Machine, tmp_path: Path
) -> None:
    variables = {
        "FARHAND_URL": machine.server.url,
        "FARHAND_TOKEN": machine.server.administrators_token(),
    }
    command = ("python", str(ACT), machine.name)
    with (
        machine.joined() as client,
        machine.desktop.running("-m", "tests.wine.shortcut") as shortcut,
        contextlib.chdir(tmp_path),
    ):
        client.says("connected to")
        shortcut.says("ready")
        machine.is_online()
        with running(tmp_path / "act.log", variables, *command) as program:
            assert program.ends() == 0, program.output
        assert machine.send("keyboard/key", text="ctrl+a ctrl+c").status == 200
        typed = machine.get("clipboard").json
        # Empty, it asks nobody whether it is to be saved; and its end is that of our pipes.
        assert machine.send("keyboard/key", text="ctrl+a delete alt+f4").status == 200
        assert typed == {"text": "echo hello\r\n"}
    with Image.open(tmp_path / "screen.png") as picture:
        assert picture.size == (1280, 800)


def test_client_comes_back_when_its_server_does(machine: Machine, tmp_path: Path) -> None:
    server = ServerProcess(tmp_path / "server", **SETTINGS)
    with server.run():
        api = server.api()
        token = api.add_machine(machine.name)
    own = replace(machine, token=token, api=api, server=server)
    with own.joined() as client:
        client.says("cannot connect")
        for times in (1, 2):
            with server.run():
                until(lambda: client.output.count("connected to") >= times, "it comes back")  # noqa: B023
                own.is_online()
                assert own.send("mouse/move", x=times, y=5).status == 200
    api.close()


def test_doctor_finds_everything_in_order(machine: Machine) -> None:
    with machine.doctor() as doctor:
        assert doctor.ends() == 0, doctor.output
    for hop in ("desktop: windows", "display: 1280x800", "input: ", "screen: ", "journal: "):
        assert f"ok   {hop}" in doctor.output, doctor.output
    assert "FAIL" not in doctor.output
    # It looked where this user's own things are, whose name has more than ASCII.
    assert (machine.home / "Farhand" / "machine" / "journalsession.sqlite3").exists()


@pytest.mark.parametrize("profile", [Path("/sys"), None], ids=["read-only", "a file"])
def test_profile_that_takes_no_file_is_told_and_another_directory_helps(
    machine: Machine, tmp_path: Path, profile: Path | None
) -> None:
    """Even root makes nothing in ``/sys``, so that this is a profile that nobody may write to."""
    if profile is None:
        (profile := tmp_path / "AppData").write_text("no directory")
    spoiled = replace(machine, home=profile, token_file=machine.token_file)
    with spoiled.doctor() as doctor:
        assert doctor.ends() == 1
    assert "FAIL journal: the journal" in doctor.output
    assert "ok   input: " in doctor.output
    with spoiled.joined() as client:
        assert client.ends() == 1
    elsewhere = tmp_path / "Größere Platte"
    with spoiled.joined("--state-dir", windows_path(elsewhere)) as lives:
        lives.says("connected to")
        machine.is_online()
        # What is held is on record nowhere, and goes up all the same while its client lives.
        assert machine.send("mouse/click", None, **PLACE, down=True).status == 200
        assert machine.send("mouse/click", None, **PLACE, down=False).status == 200
    assert (elsewhere / "journalsession.sqlite3").exists()
    for said in (doctor.output, client.output, lives.output):
        assert "Traceback" not in said
    print(f"\n{client.output}")
