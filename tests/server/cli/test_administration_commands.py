"""``farhand command show`` against a real server, for commands that its ledger has."""

import asyncio
import json
from contextlib import closing
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import Completed, NotCarriedOut, Outcome, Point, Refused, Unknown
from server.dispatch.ledger.resolver import Resolver
from server.store.commands import CommandRecord, CommandState, CommandStore
from server.store.mongodb.database import Database
from tests.commandline import Served, run
from tests.links import BOOT_ID, JOURNAL_ID
from tests.observers import NoObserver

ACCEPTED_AT = datetime(2024, 5, 6, 7, 8, 9, 123000, tzinfo=UTC)


def kept(served: Served, mongodb: str, outcome: Outcome | None, *, minimal: bool = False) -> str:
    """Put a command into the server's ledger, sent and perhaps ended; its id."""
    made = served.run("token", "create", "--name", "n", "--json").stdout
    record = CommandRecord(
        command_id=uuid4(),
        organization_id=UUID(json.loads(made)["organization_id"]),
        machine_id="desk-1",
        operation=Operation.MOUSE_MOVE,
        fingerprint="f" * 64,
        state=CommandState.SENT,
        attempt=uuid4(),
        claimed_until=ACCEPTED_AT,
        epoch=1,
        boot_id=BOOT_ID,
        journal_id=JOURNAL_ID,
        journal_sequence=1,
        request_id="r-1",
        minimal=minimal,
        accepted_at=ACCEPTED_AT,
        expires_at=ACCEPTED_AT,
    )

    async def keep() -> None:
        with closing(Database(mongodb, "test_command_line")) as database:
            commands = CommandStore(database)
            await commands.claim(record)
            if outcome is not None:
                await Resolver(commands, NoObserver()).finish(record, outcome)

    asyncio.run(keep())
    return str(record.command_id)


def shown(served: Served, command_id: str) -> list[str]:
    """What a person is told, line by line."""
    result = served.run("command", "show", command_id)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.splitlines()


def test_open_command_is_shown_without_an_answer(served: Served, mongodb: str) -> None:
    assert shown(served, kept(served, mongodb, None)) == [
        "sent",
        "operation: mouse.move",
        "machine id: desk-1",
        "accepted at: 2024-05-06T07:08:09.123Z",
        "expires at: 2024-05-06T07:08:09.123Z",
    ]


@pytest.mark.parametrize(
    ("outcome", "first", "last"),
    [
        (
            Completed(duration_ms=1, pointer=Point(x=3, y=4)),
            "done (final)",
            "answer: 200 completed",
        ),
        (
            NotCarriedOut(),
            "not_carried_out (final)",
            "answer: 503 the input never reached the machine and now never will",
        ),
        (
            Refused(code="outside_displays", message="is \x1b[31moutside\n", loc=("body", "x")),
            "done (final)",
            "answer: 422 body.x: is \ufffd[31moutside\ufffd",
        ),
        (
            Unknown(injected_at_least=2),
            "unknown (final)",
            "answer: 502 the input was begun and not finished, or the machine's journal is lost; "
            "nobody can know what happened",
        ),
    ],
)
def test_final_command_is_shown_with_its_answer(
    served: Served, mongodb: str, outcome: Outcome, first: str, last: str
) -> None:
    lines = shown(served, kept(served, mongodb, outcome))
    assert (lines[0], lines[-1]) == (first, last)
    assert lines[-2].startswith("final at: ")


def test_answer_without_a_body_is_its_status_alone(served: Served, mongodb: str) -> None:
    done = Completed(duration_ms=1, pointer=Point(x=3, y=4))
    assert shown(served, kept(served, mongodb, done, minimal=True))[-1] == "answer: 204"


def test_json_is_the_command_as_the_server_has_it(served: Served, mongodb: str) -> None:
    command_id = kept(served, mongodb, NotCarriedOut())
    result = served.run("command", "show", command_id, "--json")
    assert result.exit_code == 0
    view: dict[str, Any] = json.loads(result.stdout)
    assert view["command_id"] == command_id
    assert (view["state"], view["final"]) == ("not_carried_out", True)
    assert view["answer"]["body"]["type"] == "/problems/not-carried-out"


@pytest.mark.parametrize(
    ("command_id", "words"),
    [
        ("00000000-0000-4000-8000-0000000000ff", "Error: Not found: no command "),
    ],
)
def test_what_is_no_command_of_this_organization_is_exit_code_1_in_the_servers_words(
    served: Served, command_id: str, words: str
) -> None:
    result = served.run("command", "show", command_id)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(words)
    assert result.stderr.count("\n") == 1
    assert "{" not in result.stderr


def test_command_of_another_organization_is_not_known(served: Served, mongodb: str) -> None:
    command_id = kept(served, mongodb, None)
    organization = served.run("organization", "add", "Other").stdout.strip()
    arguments = ("--organization", organization, "--scope", "input:send")
    secret = served.run("token", "create", "--name", "n", *arguments).stdout.strip()
    result = run("command", "show", command_id, "--url", served.url, "--token", secret)
    assert result.exit_code == 1
    assert command_id in result.stderr


@pytest.mark.parametrize("arguments", [(), ("a", "b"), ("--all",)])
def test_wrong_use_is_exit_code_2(served: Served, arguments: tuple[str, ...]) -> None:
    result = served.run("command", "show", *arguments)
    assert result.exit_code == 2
    assert "Usage: farhand command show" in result.stderr
