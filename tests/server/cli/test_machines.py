"""``farhand machine show``, ``pause`` and ``resume`` against a real server."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pymongo
import pytest

from schemas.values.times import parse_time
from server.cli.client import PAGE
from server.cli.machines import ago, described
from tests.commandline import Served

NOW = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


def new_machine(served: Served) -> str:
    """The id of a machine that nobody else uses."""
    machine_id = f"desk-{uuid4().hex[:8]}"
    assert served.run("machine", "add", machine_id, "--name", "Front desk").exit_code == 0
    return machine_id


def test_machine_is_shown_with_what_is_known_of_it(served: Served) -> None:
    machine_id = new_machine(served)
    result = served.run("machine", "show", machine_id)
    assert result.exit_code == 0
    lines = dict(line.split(": ", 1) for line in result.stdout.splitlines())
    facts = {name: value.strip() for name, value in lines.items()}
    assert (facts["id"], facts["name"]) == (machine_id, "Front desk")
    assert facts["state"].startswith("offline for ")
    assert facts["state"].endswith(": it has never connected")
    assert facts["inputs"] == "0 completed, 0 failed"
    assert facts["screen"] == "not to be seen: the machine is not connected"
    assert "platform" not in facts


def test_machine_is_shown_as_json_with_its_commands(served: Served) -> None:
    machine_id = new_machine(served)
    shown = json.loads(served.run("machine", "show", machine_id, "--json").stdout)
    assert (shown["id"], shown["commands"]) == (machine_id, [])


def test_machine_is_paused_and_resumed(served: Served) -> None:
    machine_id = new_machine(served)
    result = served.run("machine", "pause", machine_id)
    assert (result.exit_code, result.stdout) == (0, "paused: administrator paused the machine\n")
    assert json.loads(served.run("machine", "show", machine_id, "--json").stdout)["paused"]
    result = served.run("machine", "resume", machine_id)
    assert (result.exit_code, result.stdout) == (0, "offline: it has never connected\n")
    assert not json.loads(served.run("machine", "resume", machine_id, "--json").stdout)["paused"]


def test_pause_has_a_reason_and_an_end(served: Served) -> None:
    machine_id = new_machine(served)
    options = ("--reason", "the printer", "--for", "30m")
    result = served.run("machine", "pause", machine_id, *options)
    assert result.exit_code == 0
    assert result.stdout.startswith("paused: administrator paused the machine until 2")
    assert result.stdout.endswith("Z: the printer\n")
    pause = json.loads(served.run("machine", "show", machine_id, "--json").stdout)["pause"]
    left = parse_time(pause["until"]) - datetime.now(UTC)
    assert timedelta(minutes=29) < left <= timedelta(minutes=30)


@pytest.mark.parametrize(
    ("options", "exit_code", "words"),
    [
        (("--for", "soon"), 2, "such as 30d"),
        (("--for", "31d"), 1, "Error: --for must be within 30 days"),
        (("--reason", "x" * 201), 1, "Error: --reason must have at most 200 characters"),
    ],
)
def test_wrong_pause_is_said_in_words_of_the_command(
    served: Served, options: tuple[str, ...], exit_code: int, words: str
) -> None:
    result = served.run("machine", "pause", new_machine(served), *options)
    assert result.exit_code == exit_code
    assert words in result.stderr


def test_list_is_whole_however_long_it_is(served: Served, mongodb: str) -> None:
    organization = served.run("organization", "add", "Many machines").stdout.strip()
    token = served.run(
        "token", "create", "--name", "lists", "--organization", organization,
        "--scope", "machines:read", "--scope", "machines:write",
    ).stdout.strip()  # fmt: skip
    assert served.run("machine", "add", "desk", "--token", token).exit_code == 0
    with pymongo.MongoClient[dict[str, Any]](mongodb) as client:
        # Added one by one they take most of a minute.
        stored = client["test_command_line"]["machines"]
        one = stored.find_one({"machine_id": "desk"}, {"_id": False}) or {}
        stored.insert_many({**one, "machine_id": f"desk-{number}"} for number in range(PAGE))
    machines = {"desk", *(f"desk-{number}" for number in range(PAGE))}
    listed = json.loads(served.run("machine", "list", "--token", token, "--json").stdout)
    assert len(listed["items"]) == listed["total"] == len(machines)
    assert {each["id"] for each in listed["items"]} == machines
    assert (listed["items"][0]["outdated"], listed["items"][0]["invitation"]) == (False, None)
    assert (
        json.loads(served.run("machine", "list", "--token", token, "--outdated", "--json").stdout)[
            "items"
        ]
        == []
    )
    table = served.run("machine", "list", "--token", token)
    assert table.exit_code == 0
    assert machines <= {*table.stdout.split()}


def test_trouble_is_listed(served: Served, mongodb: str) -> None:
    assert served.run("machine", "add", "ailing").exit_code == 0
    assert served.run("machine", "trouble", "ailing").stdout.split() == [
        *("since", "until", "for", "kind", "reason"),
    ]
    since = datetime.now(UTC) - timedelta(hours=1)
    trouble = {"kind": "offline", "reason": "its network went away", "since": since}
    with pymongo.MongoClient[dict[str, Any]](mongodb) as client:
        client["test_command_line"]["machines"].update_one(
            {"machine_id": "ailing"},
            {"$push": {"troubles": {**trouble, "until": since + timedelta(seconds=63)}}},
        )
    table = served.run("machine", "trouble", "ailing").stdout
    assert "1 min 3 s" in table
    assert "its network went away" in table


@pytest.mark.parametrize("verb", ["show", "pause", "resume", "trouble"])
def test_unknown_machine_is_a_sentence_and_code_1(served: Served, verb: str) -> None:
    result = served.run("machine", verb, "no/such")
    assert result.exit_code == 1
    result = served.run("machine", verb, "nosuch")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "there is no machine 'nosuch'" in result.stderr


def test_everything_known_is_described() -> None:
    found = {
        "id": "desk-1",
        "name": "Front",
        "state": "online",
        "reason": "connected",
        "since": "2024-05-06T06:00:00.000Z",
        "round_trip_ms": 1.25,
        "tags": ["spare", "till"],
        "pools": [{"id": "1", "name": "Berlin"}, {"id": "2", "name": "Mitte"}],
        "platform": "Linux",
        "client_version": "0.1.0",
        "outdated": True,
        "invitation": {"id": "3", "name": "the move"},
        "displays": [
            {"x": 0, "y": 0, "width": 1280, "height": 800},
            {"x": 1280, "y": -10, "width": 800, "height": 600},
        ],
        "screen": {"available": True, "reason": None},
        "inputs": {"completed": 12, "failed": 3},
        "last_input_at": "2024-05-06T07:08:04.000Z",
        "created_at": "2024-05-01T00:00:00.000Z",
    }
    assert described(found, NOW) == [
        "id:          desk-1",
        "name:        Front",
        "state:       online for 1 h 8 min: connected",
        "round trip:  1.25 ms",
        "tags:        spare till",
        "pools:       Berlin, Mitte",
        "joined with: invitation the move",
        "platform:    Linux",
        "client:      0.1.0 (outdated)",
        "displays:    1280x800 at 0,0, 800x600 at 1280,-10",
        "screen:      can be seen",
        "inputs:      12 completed, 3 failed",
        "last input:  5 s ago",
        "added:       2024-05-01T00:00:00.000Z",
    ]


@pytest.mark.parametrize(
    ("time", "words"),
    [
        ("2024-05-06T07:08:09.000Z", "0 s"),
        ("2024-05-06T07:08:10.000Z", "0 s"),
        ("2024-05-06T07:07:08.000Z", "1 min 1 s"),
        ("2024-05-06T05:08:09.000Z", "2 h 0 min"),
        ("2024-05-03T06:08:08.000Z", "3 d 1 h"),
    ],
)
def test_time_is_told_in_its_two_largest_units(time: str, words: str) -> None:
    assert ago(time, NOW) == words
