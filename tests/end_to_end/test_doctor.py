"""``farhand-machine doctor`` against a real server, beside a machine client that runs."""

from tests.desktop import Witness
from tests.end_to_end.system import Workstation, presses
from tests.processes import run


def examined(workstation: Workstation, token: str | None = None) -> tuple[int, list[str]]:
    """The doctor's exit code and lines, with the settings of the workstation's client."""
    ended = run(
        *("farhand-machine", "doctor", "--server", workstation.url),
        *("--token", token or workstation.token, "--display", workstation.display),
        *("--state-dir", str(workstation.directory)),
    )
    assert ended.stderr == ""
    return ended.returncode, ended.stdout.splitlines()


def failed(lines: list[str]) -> str:
    """The one hop that failed."""
    (line,) = (line for line in lines if line.startswith("FAIL"))
    return line


def test_running_client_is_well_and_loses_nothing(
    workstation: Workstation, witness: Witness
) -> None:
    with workstation.joined() as client:
        assert workstation.send("mouse/click", x=900, y=700, down=True).status == 200
        assert presses(witness.take()) == ["ButtonPress 1"]
        before = workstation.api.machine(workstation.machine)
        code, lines = examined(workstation)
        assert code == 0, lines
        # This display has no bus that tells of elements; it works without.
        assert [each.split(":")[0] for each in lines if not each.startswith("ok ")] == [
            "warn elements"
        ]
        after = workstation.api.machine(workstation.machine)
        assert (after["state"], after["since"]) == ("online", before["since"])
        assert client.output.count("connected to") == 1
        assert presses(witness.take()) == []
        assert workstation.send("mouse/click", x=900, y=700, down=False).status == 200
        assert presses(witness.take()) == ["ButtonRelease 1"]


def test_token_of_an_administrator_or_of_nobody_is_named(workstation: Workstation) -> None:
    made = workstation.api.call(
        "POST", "/v1/tokens", {"name": "n", "scopes": ["machines:read"]}
    ).json
    code, lines = examined(workstation, made["token"])
    assert code == 1
    assert failed(lines).startswith("FAIL token: the server knows it, but it is not a machine's")
    workstation.api.call("DELETE", f"/v1/tokens/{made['id']}")
    code, lines = examined(workstation, "fh_nobody")
    assert code == 1
    assert failed(lines).startswith("FAIL token: the server refused it")
