"""What a retry gets after each crash: the table of docs/design/at-most-once.md, row by row.

Each program is killed, or stopped, at a named point of an input's way; then the same request is
sent again until its answer is final, and the witness tells what really happened.
"""

import asyncio
import contextlib
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from server.store.mongodb.database import Database
from tests.batches import bodies, broken, five
from tests.cables import Cable
from tests.desktop import Witness
from tests.end_to_end.clipboards import RemoteClipboard
from tests.end_to_end.conftest import SHORT
from tests.end_to_end.system import Workstation, final_of, presses, travels
from tests.processes import Answer, ServerProcess, state_of, until
from tests.selections import SelectionWitness

PLACE = {"x": 900, "y": 700}
CLICK = ["ButtonPress 1", "ButtonRelease 1"]
LONG_DRAG = {"start_x": 100, "start_y": 600, "to_x": 1100, "to_y": 700, "duration": 20.0}

COPIED = "Große Straße 1\n" * 12_000
"""So long that it comes in pieces: over the link, and from X to who pastes."""


MACHINES = 30
"""More than there are tests here."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tmp_path_factory.mktemp("crashes").name


@pytest.fixture(scope="module")
def server(mongodb: str, database: str, tmp_path_factory: pytest.TempPathFactory) -> ServerProcess:
    """A server on the session's MongoDB: its own would take most of each start."""
    directory = tmp_path_factory.mktemp("server")
    return ServerProcess(directory, **SHORT, mongodb_uri=mongodb, mongodb_database=database)


@pytest.fixture(scope="module")
def workstations(
    server: ServerProcess, display: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Iterator[Workstation]]:
    """Machines that were added before; neither program runs."""
    directory = tmp_path_factory.mktemp("machines")
    with server.run():
        api = server.api()
        added = [Workstation.added(server.url, api, display, directory) for _ in range(MACHINES)]
    yield iter(added)
    api.close()


@pytest.fixture
def workstation(workstations: Iterator[Workstation], tmp_path: Path) -> Workstation:
    """A machine of the test's own."""
    return replace(next(workstations), directory=tmp_path / "machine")


def own(workstation: Workstation, key: str) -> str:
    """That key, which every test has, as a test sends it: all are of one organization."""
    return f"{workstation.machine}-{key}"


def click(workstation: Workstation, key: str = "key") -> Answer:
    return workstation.send("mouse/click", own(workstation, key), **PLACE)


def final(workstation: Workstation, key: str = "key", operation: str = "mouse/click") -> Answer:
    """Send the same request again until its answer is final; then once more: it stays the same."""
    body = LONG_DRAG if operation == "mouse/drag" else PLACE
    return final_of(lambda: workstation.send(operation, own(workstation, key), **body))


def text_of(key: str) -> bytes:
    return f"{key}: {COPIED}".encode()


def copy(workstation: Workstation, key: str) -> Answer:
    """Copy a text of the key's own on a machine."""
    headers = {"Idempotency-Key": own(workstation, key)}
    return RemoteClipboard(workstation).write(text_of(key).decode(), headers)


@pytest.fixture
def selections(display: str) -> Iterator[SelectionWitness]:
    """Sees who becomes the owner of a clipboard from the test's beginning."""
    with contextlib.closing(SelectionWitness(display)) as witness:
        yield witness


def breaks_off(workstation: Workstation, key: str = "key") -> None:
    """Send a click whose server ends before it has answered."""
    with pytest.raises(OSError):  # noqa: PT011 - reset or closed, as the system likes
        click(workstation, key)


@pytest.mark.parametrize(
    ("point", "status", "happened"),
    [
        ("before-claim", 200, CLICK),
        ("after-sent", 503, []),
        ("after-bytes", 200, CLICK),
        ("after-ack", 200, CLICK),
        ("after-stored", 200, CLICK),
    ],
)
def test_server_killed_on_an_inputs_way(
    server: ServerProcess,
    workstation: Workstation,
    witness: Witness,
    point: str,
    status: int,
    happened: list[str],
) -> None:
    with server.run(failpoints=f"{point}=kill") as killed, workstation.joined():
        breaks_off(workstation)
        assert killed.ends() == -signal.SIGKILL
        with server.run():
            answer = final(workstation)
    assert (answer.status, presses(witness.take())) == (status, happened)


def test_server_killed_between_claim_and_sent_leaves_a_claim_that_runs_after_its_lease(
    server: ServerProcess, workstation: Workstation, witness: Witness
) -> None:
    """Claimed and not yet sent is what comes while the link settles what was open before.

    It is several actions here, which are claimed as any input is.
    """
    acts = five(0)
    claimed = partial(workstation.act, bodies(acts), own(workstation, "claimed"))
    with (
        server.run(failpoints="after-bytes=kill") as first,
        workstation.joined(failpoints="before-report=stop") as client,
    ):
        breaks_off(workstation, "open")
        assert first.ends() == -signal.SIGKILL
        with server.run(failpoints="after-claim=kill") as second:
            until(lambda: client.output.count("connected to") == 2, "the client comes back")
            workstation.is_in_state("online")
            until(lambda: state_of(client.process.pid) == "T", "the client stops before its report")
            with pytest.raises(OSError):  # noqa: PT011 - reset or closed, as the system likes
                claimed()
            assert second.ends() == -signal.SIGKILL
        client.process.send_signal(signal.SIGCONT)
        with server.run():
            answer = final_of(claimed)
            assert answer.status == 200
            assert final(workstation, "open").status == 200
    events = witness.take()
    assert broken(acts, answer, events) == []
    others = [each for each in events if (each.x, each.y) == (PLACE["x"], PLACE["y"])]
    assert presses(others) == CLICK


@pytest.mark.parametrize(
    ("point", "status", "happened"),
    [
        ("before-intent", 503, []),
        ("after-intent", 502, []),
        ("after-events", 502, CLICK),
        ("after-done", 200, CLICK),
    ],
)
def test_machine_client_killed_on_an_inputs_way(
    server: ServerProcess,
    workstation: Workstation,
    witness: Witness,
    point: str,
    status: int,
    happened: list[str],
) -> None:
    with server.run():
        with workstation.joined(failpoints=f"{point}=kill") as killed:
            pending = click(workstation)
            assert killed.ends() == -signal.SIGKILL
        assert (pending.status, pending.json["type"]) == (504, "/problems/outcome-pending")
        command = f"/v1/commands/{pending.json['command_id']}"
        assert workstation.api.call("GET", command).json["state"] == "sent"
        with workstation.joined():
            answer = final(workstation)
        looked = workstation.api.call("GET", command).json
        assert (looked["final"], looked["answer"]["status"]) == (True, status)
        assert looked["answer"]["body"] == answer.json
    assert (answer.status, presses(witness.take())) == (status, happened)


def test_server_killed_while_a_text_is_copied(
    server: ServerProcess, workstation: Workstation, selections: SelectionWitness
) -> None:
    """At one point after another, each time while another text is."""
    expected = {
        "before-claim": (200, 1),
        "after-sent": (503, 0),
        "after-bytes": (200, 1),
        "after-ack": (200, 1),
        "after-stored": (200, 1),
    }
    with contextlib.ExitStack() as stack:
        for point in expected:
            with server.run(failpoints=f"{point}=kill") as killed:
                if point == "before-claim":
                    stack.enter_context(workstation.joined())
                workstation.is_in_state("online")
                with pytest.raises(OSError):  # noqa: PT011 - reset or closed, as the system likes
                    copy(workstation, point)
                assert killed.ends() == -signal.SIGKILL
        with server.run():
            answers = {point: final_of(partial(copy, workstation, point)) for point in expected}
        times = Counter(each.text for each in selections.copied())
    assert expected == {
        point: (answer.status, times.pop(text_of(point), 0)) for point, answer in answers.items()
    }
    assert not times


def test_machine_client_killed_while_a_text_is_copied(
    server: ServerProcess, workstation: Workstation, selections: SelectionWitness
) -> None:
    """Each text was there as often as its answer says, and has gone with its client."""
    expected = {
        "before-intent": (503, 0),
        "after-intent": (502, 0),
        "after-events": (502, 1),
        "after-done": (200, 1),
    }
    times: dict[str, int] = {}
    with server.run():
        for point in expected:
            before = len(selections.copied())
            with workstation.joined(failpoints=f"{point}=kill") as killed:
                assert copy(workstation, point).status == 504
                assert killed.ends() == -signal.SIGKILL
            times[point] = len(selections.copied()) - before
        with workstation.joined():
            answers = {point: final_of(partial(copy, workstation, point)) for point in expected}
            left = RemoteClipboard(workstation).read()
    assert expected == {point: (answers[point].status, times[point]) for point in expected}
    assert len(selections.copied()) == sum(times.values())
    assert left.json == {"text": ""}


def test_killed_in_the_middle_it_is_unknown_with_how_much_happened_at_least(
    server: ServerProcess, workstation: Workstation, witness: Witness
) -> None:
    with server.run():
        with workstation.joined() as client:
            drag = workstation.begin("mouse/drag", own(workstation, "drag"), **LONG_DRAG)
            travels(witness)
            until(lambda: len(witness.seen()) > 100, "the drag has come some way")
            client.kill()
        assert drag.result().status == 504
        happened = len(witness.take())
        with workstation.joined():
            assert presses(witness.take()) == ["ButtonRelease 1"]
            answer = final(workstation, "drag", "mouse/drag")
    assert witness.take() == []
    assert (answer.status, answer.json["type"]) == (502, "/problems/outcome-unknown")
    assert 0 < answer.json["injected_at_least"] <= happened


@pytest.mark.parametrize("loss", ["deleted", "restored from a copy"])
def test_journal_that_is_lost_leaves_what_was_sent_unknown(
    server: ServerProcess, workstation: Workstation, witness: Witness, loss: str
) -> None:
    journal, copy = workstation.directory, workstation.directory.with_name("copy")
    with server.run():
        with workstation.joined() as client:
            assert click(workstation, "before").status == 200
            client.terminate()
        shutil.copytree(journal, copy)
        with workstation.joined(failpoints="after-done=kill") as killed:
            assert click(workstation).status == 504
            assert killed.ends() == -signal.SIGKILL
        shutil.rmtree(journal)
        if loss != "deleted":
            copy.rename(journal)
        with workstation.joined():
            answer = final(workstation)
            assert click(workstation, "before").status == 200
    assert (answer.status, answer.json["type"]) == (502, "/problems/outcome-unknown")
    assert presses(witness.take()) == CLICK * 2


def test_bytes_of_a_server_that_slept_are_refused(
    server: ServerProcess, workstation: Workstation, witness: Witness
) -> None:
    """It says SENT and sleeps; the machine's link breaks; then it wakes and sends."""
    with (
        Cable(server.url) as cable,
        server.run(failpoints="after-sent=stop") as program,
        workstation.joined(url=cable.url) as client,
    ):
        first = workstation.begin("mouse/click", own(workstation, "key"), **PLACE)
        until(lambda: state_of(program.process.pid) == "T", "the server sleeps")
        cable.cut()
        until(lambda: "link closed" in client.output, "the client knows that the link is over")
        cable.mend()
        program.process.send_signal(signal.SIGCONT)
        answer = final(workstation)
        assert first.result().status in (503, 504)
    assert (answer.status, answer.json["type"]) == (503, "/problems/not-carried-out")
    assert presses(witness.take()) == []


def test_key_that_the_server_forgot_is_answered_from_the_journal(
    server: ServerProcess, workstation: Workstation, witness: Witness, mongodb: str, database: str
) -> None:
    async def forget() -> None:
        opened = Database(mongodb, database)
        await opened.collection("commands").delete_many({})
        opened.close()

    with server.run(), workstation.joined():
        first = click(workstation)
        asyncio.run(forget())
        again = click(workstation)
        assert "Idempotency-Replayed" not in again.headers
        assert again.json["pointer"] == first.json["pointer"]
        assert again.json["command_id"] == first.json["command_id"]
        asyncio.run(forget())
        other = workstation.send("mouse/click", own(workstation, "key"), x=1, y=1)
        assert other.status == 422
        assert other.json["detail"][0]["loc"] == ["header", "Idempotency-Key"]
    assert presses(witness.take()) == CLICK
