"""What a retry of several actions gets after each crash: docs/design/at-most-once.md, row by row.

Server and machine client are killed at a named point before, between and in five actions, and
the machine's journal is cut back to its last flush as well; and whatever takes part in it is
killed, stopped or cut off while a text is waited for between two clicks.  What the answer says of
each action is held against what the witness saw.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests import power_cuts
from tests.batches import Act, bodies, broken, five, whole, with_pause
from tests.cables import Cable
from tests.desktop import Witness
from tests.end_to_end.conftest import SHORT
from tests.end_to_end.system import Workstation, final_of
from tests.processes import Answer, Program, ServerProcess, kind_of, stop, until
from tests.signs import Sign, drawn


@pytest.fixture(scope="module")
def server(mongodb: str, tmp_path_factory: pytest.TempPathFactory) -> ServerProcess:
    directory = tmp_path_factory.mktemp("batch-crashes")
    return ServerProcess(directory, **SHORT, mongodb_uri=mongodb, mongodb_database=directory.name)


@pytest.fixture(scope="module")
def impatient(mongodb: str, server: ServerProcess) -> ServerProcess:
    """The same server, that gives up a process which looks at a picture for a second."""
    return ServerProcess(
        server.directory,
        **SHORT,
        port=str(server.port),
        mongodb_uri=mongodb,
        mongodb_database=server.directory.name,
        vision_timeout="1",
    )


@pytest.fixture(scope="module")
def workstation(
    server: ServerProcess, display: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workstation]:
    """A machine that was added before; neither program runs."""
    directory = tmp_path_factory.mktemp("machine")
    with server.run():
        api = server.api()
        added = Workstation.added(server.url, api, display, directory)
    with closing(api):
        yield added


Told = tuple[str, int, str]


def final(workstation: Workstation, key: str, acts: Sequence[Act]) -> Answer:
    return final_of(lambda: workstation.act(bodies(acts), key))


def told(answer: Answer) -> Told:
    """The answer's kind, how many actions it says are completed, and what of the next."""
    statuses = [each["status"] for each in answer.json.get("actions") or ()]
    completed = statuses.count("completed")
    return kind_of(answer), completed, *(statuses[completed : completed + 1] or [""])


NEVER: Told = ("not-carried-out", 0, "")
NOTHING_KNOWN: Told = ("outcome-unknown", 0, "")
ENDED: Told = ("completed", 5, "")


def unknown(after: int) -> Told:
    """So many are done, and nobody knows of the next."""
    return "outcome-unknown", after, "unknown"


def ended(after: int) -> Told:
    """So many are done, and the next was not begun."""
    return "input-failed", after, "not_begun"


def interrupted(after: int) -> tuple[Told, Told]:
    """So many are done, and the pause behind them was interrupted, or was not begun yet."""
    return ("input-failed", after, "interrupted"), ended(after)


# At which pass of which point the machine client is killed; what the retry says, what it says where
# the power went as well, and how many actions happened.  What was pressed the next client releases.
KILLS: dict[str, tuple[Told, Told, int]] = {
    "before-intent": (NEVER, NOTHING_KNOWN, 0),
    "after-intent": (unknown(0), unknown(0), 0),
    "before-begun": (unknown(0), unknown(0), 0),
    "after-begun": (unknown(0), unknown(0), 0),
    "after-press": (unknown(0), unknown(0), 1),
    "after-action": (unknown(0), unknown(0), 1),
    "after-action-done": (ended(1), unknown(0), 1),
    "before-begun@3": (ended(2), unknown(1), 2),
    "after-begun@3": (unknown(2), unknown(2), 2),
    "after-press@3": (unknown(2), unknown(2), 2),
    "after-press@4": (unknown(2), unknown(2), 3),
    "after-action@3": (unknown(2), unknown(2), 3),
    "after-action-done@3": (ended(3), unknown(2), 3),
    "before-begun@5": (ended(4), unknown(3), 4),
    "after-begun@5": (unknown(4), unknown(4), 4),
    "after-press@9": (unknown(4), unknown(4), 5),
    "after-action@5": (unknown(4), unknown(4), 5),
    "after-action-done@5": (unknown(4), unknown(4), 5),
    "after-events": (unknown(4), unknown(4), 5),
    "after-done": (ENDED, unknown(4), 5),
}


@pytest.mark.parametrize("power", ["stays", "goes"])
def test_machine_client_killed_on_the_way_of_several_actions(
    server: ServerProcess, workstation: Workstation, witness: Witness, power: str
) -> None:
    """Each client is there for what became of the batch that the one before was killed in."""
    found: dict[str, tuple[Told, int]] = {}
    with server.run():
        before = ""
        for number, point in enumerate([*KILLS, ""]):
            acts = five(number)
            armed = _killed_at(point)
            with workstation.joined(failpoints=armed, program=power_cuts.PROGRAM) as client:
                if before:
                    found[before] = _settled(workstation, witness, f"{power}-{before}", number - 1)
                if point:
                    assert workstation.act(bodies(acts), f"{power}-{point}").status == 504
                    assert client.ends() == -signal.SIGKILL
            if power == "goes":
                power_cuts.cut_power(workstation.directory)
            before = point
    assert found == {
        point: ((cut if power == "goes" else killed), happened)
        for point, (killed, cut, happened) in KILLS.items()
    }


def _killed_at(point: str) -> str:
    name, _, number = point.partition("@")
    return point and f"{name}=kill@{number or 1}"


def _settled(workstation: Workstation, witness: Witness, key: str, number: int) -> tuple[Told, int]:
    """What is told of a batch in the end, and how many of its actions happened."""
    acts = five(number)
    answer, events = final(workstation, key, acts), witness.take()
    assert broken(acts, answer, events, journal_was_lost=key == "goes-before-intent") == []
    return told(answer), whole(acts, events)


# At which point the server is killed; what a retry says, and how many actions happened.
KILLS_OF_SERVERS: dict[str, tuple[Told, int]] = {
    "before-claim": (ENDED, 5),
    "after-sent": (NEVER, 0),
    "after-ack": (ENDED, 5),
    "after-stored": (ENDED, 5),
}


def test_server_killed_before_and_after_several_actions(
    server: ServerProcess, workstation: Workstation, witness: Witness
) -> None:
    with contextlib.ExitStack() as stack:
        for number, point in enumerate(KILLS_OF_SERVERS):
            with server.run(failpoints=f"{point}=kill") as killed:
                if number == 0:
                    stack.enter_context(workstation.joined())
                workstation.is_in_state("online")
                breaks_off(workstation, point, five(number))
                assert killed.ends() == -signal.SIGKILL
        with server.run():
            answers = [
                final(workstation, point, five(number))
                for number, point in enumerate(KILLS_OF_SERVERS)
            ]
            events = witness.take()
    for number, (point, expected) in enumerate(KILLS_OF_SERVERS.items()):
        acts, answer = five(number), answers[number]
        assert broken(acts, answer, events) == []
        assert (point, told(answer), whole(acts, events)) == (point, *expected)


def breaks_off(workstation: Workstation, key: str, acts: Sequence[Act]) -> None:
    """Send several actions, whose server ends before it has answered."""
    with pytest.raises(OSError):  # noqa: PT011 - reset or closed, as the system likes
        workstation.act(bodies(acts), key)


def happens(witness: Witness, acts: Sequence[Act], done: int) -> bool:
    """Whether so many actions have happened by now."""
    return whole(acts, witness.seen()) == done


def test_server_killed_when_the_bytes_have_left_ends_several_actions_soon(
    server: ServerProcess, workstation: Workstation, witness: Witness
) -> None:
    """Before the first or in the pause after it: when the machine hears that the link is over."""
    acts = with_pause(five(0), 1)
    with server.run(failpoints="after-bytes=kill") as killed, workstation.joined():
        breaks_off(workstation, "after-bytes", acts)
        assert killed.ends() == -signal.SIGKILL
        with server.run():
            answer, events = final(workstation, "after-bytes", acts), witness.take()
    assert broken(acts, answer, events) == []
    kind, completed, _ = told(answer)
    assert (kind, completed) in (("input-failed", 0), ("input-failed", 1))


def test_server_killed_between_actions_ends_them_there(
    server: ServerProcess, workstation: Workstation, witness: Witness
) -> None:
    """After the first, in the middle, and before the last: the machine goes on with none."""
    batches = {done: with_pause(five(done), done) for done in (1, 3, 4)}
    with contextlib.ExitStack() as stack:
        for done, acts in batches.items():
            with server.run() as program:
                if done == 1:
                    stack.enter_context(workstation.joined())
                workstation.is_in_state("online")
                broken_off = workstation.begin_to_act(bodies(acts), f"between-{done}")
                until(partial(happens, witness, acts, done), f"{done} actions are done")
                program.kill()
                assert isinstance(broken_off.exception(), OSError)
        with server.run():
            answers = {
                done: final(workstation, f"between-{done}", batches[done]) for done in batches
            }
            events = witness.take()
    for done, acts in batches.items():
        assert broken(acts, answers[done], events) == []
        assert told(answers[done]) in interrupted(done)
        assert whole(acts, events) == done


def test_machine_client_that_is_asked_to_end_stops_between_actions(
    server: ServerProcess, workstation: Workstation, witness: Witness
) -> None:
    acts = with_pause(five(0), 2)
    with server.run():
        with workstation.joined() as client:
            workstation.begin_to_act(bodies(acts), "asked-to-end")
            until(partial(happens, witness, acts, 2), "two actions are done")
            client.terminate()
        with workstation.joined():
            answer, events = final(workstation, "asked-to-end", acts), witness.take()
    assert broken(acts, answer, events) == []
    assert told(answer) in interrupted(2)
    assert whole(acts, events) == 2


# What follows is about two clicks, between which a text is waited for.

REGION = {"x": 300, "y": 200, "width": 400, "height": 100}


def with_wait(number: int, text: str) -> list[Act]:
    """A click, a wait until a text is on the sign, and two clicks."""
    first, *_, last = five(number)
    condition = {"text": text, "region": REGION}
    return [first, Act({"operation": "wait_for", "any": [condition], "timeout": 60}), last]


@pytest.fixture
def sign(display: str) -> Iterator[Sign]:
    with Sign(display, drawn("Saved"), (REGION["x"], REGION["y"])) as shown:
        yield shown


def looking(server: Program) -> list[int]:
    """The processes that look at pictures for a server."""
    found = []
    for children in Path(f"/proc/{server.process.pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # A thread or process has just ended.
            found += [
                int(each)
                for each in children.read_text().split()
                if b"server.vision.looking" in Path(f"/proc/{each}/cmdline").read_bytes()
            ]
    return found


def struck(server: Program, strike: Callable[[int], None], times: int) -> None:
    """Strike so many processes, each as soon as it has a picture to look at."""
    seen: list[int] = []

    def is_there(number: int) -> bool:
        seen.extend({*looking(server)}.difference(seen))
        return len(seen) > number

    for number in range(times):
        until(partial(is_there, number), "a process looks at a picture")
        strike(seen[number])


def killed(process: int) -> None:
    os.kill(process, signal.SIGKILL)


# What is done to how many of the processes that look; what is said, and how many clicks happened.
STRUCK: dict[str, tuple[Callable[[int], None], int, Told, int]] = {
    "killed": (killed, 1, ("completed", 3, ""), 2),
    "killed-twice": (killed, 2, ("input-failed", 1, "failed"), 1),
    "stopped": (stop, 1, ("input-failed", 1, "failed"), 1),
}


@pytest.mark.usefixtures("sign")
def test_process_that_looks_for_a_text_killed_or_stopped(
    server: ServerProcess, impatient: ServerProcess, workstation: Workstation, witness: Witness
) -> None:
    """Whoever waits gets another one once, and then the truth; nobody clicks without the text."""
    for number, (name, (strike, times, expected, happened)) in enumerate(STRUCK.items()):
        acts = with_wait(number, "Saved")
        waiting = impatient if strike is stop else server
        with waiting.run() as program, workstation.joined():
            answer = workstation.begin_to_act(bodies(acts), name)
            struck(program, strike, times)
            assert (name, told(answer.result())) == (name, expected)
            events = witness.take()
            assert broken(acts, final(workstation, name, acts), events) == []
            assert whole(acts, events) == happened
            assert witness.take() == []


@pytest.mark.usefixtures("sign")
def test_link_server_and_machine_client_lost_while_a_text_is_waited_for(
    server: ServerProcess, workstation: Workstation, witness: Witness
) -> None:
    waits = {"link": "interrupted", "server": "interrupted", "client": "not_begun"}
    batches = {key: with_wait(number, "Failed") for number, key in enumerate(waits)}
    answers: dict[str, Answer] = {}
    with contextlib.ExitStack() as stack, Cable(server.url) as cable:
        with server.run() as program:
            client = stack.enter_context(workstation.joined(url=cable.url))
            is_waited_for(program, workstation, "link", batches["link"])
            cable.cut()
            cable.mend()
            answers["link"] = final(workstation, "link", batches["link"])
        with server.run() as program:
            is_waited_for(program, workstation, "server", batches["server"])
            program.kill()
        with server.run() as program:
            is_waited_for(program, workstation, "client", batches["client"])
            client.kill()
            with workstation.joined():
                for key in ("server", "client"):
                    answers[key] = final(workstation, key, batches[key])
    events = witness.take()
    for key, acts in batches.items():
        assert broken(acts, answers[key], events) == []
        assert (key, told(answers[key])) == (key, ("input-failed", 1, waits[key]))
        assert whole(acts, events) == 1


def is_waited_for(server: Program, workstation: Workstation, key: str, acts: Sequence[Act]) -> None:
    """Begin several actions; a server that was just started looks for their text."""
    workstation.is_in_state("online")
    workstation.begin_to_act(bodies(acts), key)
    until(lambda: looking(server), "somebody looks for the text")
