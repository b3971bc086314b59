"""``python -m tests.end_to_end.clones``: a disk is copied many times, and each copy is started.

A machine joins, works and is shut down; then its files are on many hosts, as after a golden image
that was made too late.  All are started while clicks are sent, each with a key and to a place of
its own.  All hosts show one display, where a witness counts what has arrived.
"""

import argparse
import contextlib
import shutil
import sys
import tempfile
import time
import uuid
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.desktop import Witness, virtual_display
from tests.end_to_end.system import final_of
from tests.processes import Answer, Program, ServedApi, ServerProcess, running, until

MACHINE = "golden"
TOGETHER = 4
"""So many clicks are under way at once."""

PLACES = 1000
TAKEN = "another machine client with this token has the link"


@dataclass(frozen=True)
class Seen:
    """What became of the clicks, and what the server says of the machine."""

    reason: str
    answers: Counter[int]
    twice: int
    """Clicks that arrived more than once."""

    missing: int
    """Clicks that were completed, and did not arrive."""

    waiting: int
    """Clones that say that another one has the link."""


class Clicks:
    """Clicks on a machine, each with a key, at a place of its own."""

    def __init__(self, api: ServedApi) -> None:
        self._api = api
        self._run = uuid.uuid4().hex
        self._begun: deque[Future[Answer]] = deque()
        self.count = 0

    def send(self, number: int) -> Answer:
        """One click; again, it is the same."""
        return self._api.send(MACHINE, "mouse/click", self._body(number), self._key(number))

    def go_on(self) -> None:
        """Begin one more, once fewer are under way."""
        while len(self._begun) >= TOGETHER:
            self._begun.popleft().result()
        body, key = self._body(self.count), self._key(self.count)
        self._begun.append(self._api.begin(MACHINE, "mouse/click", body, key))
        self.count += 1

    def final(self) -> list[Answer]:
        """What became of each in the end."""
        for each in self._begun:
            each.exception()
        return [final_of(partial(self.send, number)) for number in range(self.count)]

    def _key(self, number: int) -> str:
        return f"{self._run}-{number}"

    @staticmethod
    def place(number: int) -> tuple[int, int]:
        """Where a click is."""
        return number % PLACES + 10, number // PLACES * 10 + 10

    def _body(self, number: int) -> dict[str, int]:
        x, y = self.place(number)
        return {"x": x, "y": y}


def make(server: ServerProcess, api: ServedApi, display: str, state: Path) -> None:
    """The machine whose disk is copied: it has joined with a code, worked and been shut down."""
    code = api.call("POST", "/v1/invitations", {"machine_id": MACHINE}).json["code"]
    where = ("--server", server.url, "--state-dir", str(state), "--display", display)
    command = ("farhand-machine", "join", *where, "--code", code)
    with running(state.with_suffix(".log"), {}, *command) as client:
        client.says("connected to")
        clicks = Clicks(api)
        for _ in range(3):
            clicks.go_on()
        assert {each.status for each in clicks.final()} == {200}
        assert client.terminate() == 0


@contextlib.contextmanager
def started(server: ServerProcess, display: str, state: Path, number: int) -> Iterator[Program]:
    """A host with a copy of the disk."""
    boot = state / "boot"
    boot.write_text(str(uuid.uuid4()))
    command = (sys.executable, "-m", "tests.end_to_end.cloned_host", str(boot), f"clone-{number}")
    where = ("--server", server.url, "--state-dir", str(state), "--display", display)
    settings = {"FARHAND_MACHINE_RECONNECT_LONGEST": "1"}
    with running(state.with_suffix(".log"), settings, *command, "join", *where) as client:
        yield client


@contextlib.contextmanager
def cloned(
    server: ServerProcess, api: ServedApi, display: str, directory: Path, hosts: int
) -> Iterator[Seen]:
    """Copy the disk, start all, and see that they have come to rest; they run on in the block."""
    disk = directory / "disk"
    make(server, api, display, disk)
    clicks, witness = Clicks(api), Witness(display)
    with contextlib.ExitStack() as stack, contextlib.closing(witness):
        clones: list[Program] = []
        for number in range(hosts):
            copy = Path(shutil.copytree(disk, directory / f"clone-{number}"))
            clones.append(stack.enter_context(started(server, display, copy, number)))

        def have_come() -> bool:
            clicks.go_on()
            return all("connected to" in said or TAKEN in said for said in outputs(clones))

        until(have_come, "each has been connected, or was too late", 60 + 2.0 * hosts)
        others = f"{hosts - 1} other hosts come with its token"
        until(lambda: others in api.machine(MACHINE)["reason"], "all others are told")
        for _ in range(20):
            clicks.go_on()
        answers = clicks.final()
        arrived = Counter((each.x, each.y) for each in witness.take() if each.kind == "ButtonPress")
        yield Seen(
            reason=api.machine(MACHINE)["reason"],
            answers=Counter(each.status for each in answers),
            twice=sum(times > 1 for times in arrived.values()),
            missing=missing(answers, arrived),
            waiting=sum(TAKEN in said for said in outputs(clones)),
        )


def outputs(clones: Sequence[Program]) -> list[str]:
    """What each has said so far."""
    return [each.output for each in clones]


def missing(answers: Sequence[Answer], arrived: Counter[tuple[int, int]]) -> int:
    """How many clicks were completed, and did not arrive."""
    return sum(
        answer.status == 200 and not arrived[Clicks.place(number)]
        for number, answer in enumerate(answers)
    )


def main() -> int:
    """Run with a server of its own, and print what was seen; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.end_to_end.clones", description=__doc__)
    parser.add_argument("--hosts", type=int, default=50)
    hosts = parser.parse_args().hosts
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-clones-")))
        server = ServerProcess(directory / "server", heartbeat="1", input_timeout="8")
        display = stack.enter_context(virtual_display())
        stack.enter_context(server.run())
        api = stack.enter_context(contextlib.closing(server.api()))
        began = time.monotonic()
        seen = stack.enter_context(cloned(server, api, display, directory, hosts))
        took = time.monotonic() - began
        told = (server.directory / "server.log").read_text().count("with its token")
    print(f"{hosts} hosts with one disk, at rest and told after {took:.0f} s: {seen.reason}")
    print(f"answers to {seen.answers.total()} clicks: {dict(seen.answers)}")
    print(f"arrived twice: {seen.twice}; completed and not arrived: {seen.missing}")
    print(f"clones that wait: {seen.waiting}; lines of the server's log about it: {told}")
    return int(seen.twice + seen.missing > 0 or seen.waiting < hosts - 1)


if __name__ == "__main__":
    sys.exit(main())
