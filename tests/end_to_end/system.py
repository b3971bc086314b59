"""A server, a machine and its client, as the tests of the whole put them together."""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.desktop import DeviceEvent, Witness
from tests.processes import Answer, Program, ServedApi, ServerProcess, joined, until

_NUMBERS = itertools.count(1)


@dataclass
class Workstation:
    """A machine that was added, and where its client keeps its things.

    ``settings`` are its client's, each time that it is started.
    """

    url: str
    api: ServedApi
    machine: str
    token: str
    display: str
    directory: Path
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def added(cls, url: str, api: ServedApi, display: str, directory: Path) -> "Workstation":
        machine = f"desk-{next(_NUMBERS)}"
        token = api.add_machine(machine)
        return cls(url, api, machine, token, display, directory / machine)

    @contextlib.contextmanager
    def joined(
        self,
        *,
        url: str | None = None,
        state: str = "online",
        failpoints: str = "",
        is_next: bool = False,
        program: str = "farhand-machine",
        **settings: Any,
    ) -> Iterator[Program]:
        """Run the machine's client, connected and in this state before the block begins."""
        with joined(
            url or self.url,
            self.token,
            self.directory,
            self.display,
            failpoints=failpoints,
            is_next=is_next,
            program=program,
            **{"reconnect_longest": "1", **self.settings, **settings},
        ) as client:
            self.is_in_state(state)
            yield client

    def is_in_state(self, state: str) -> None:
        """Wait until the server says so."""
        until(lambda: self.api.is_in_state(self.machine, state), f"{self.machine} is {state}")

    def send(self, operation: str, key: str | None = None, **body: Any) -> Answer:
        """Send an input and return its answer."""
        return self.api.send(self.machine, operation, body, key)

    def act(
        self,
        actions: Sequence[Mapping[str, Any]],
        key: str | None = None,
        screenshot: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Send several actions in one request."""
        return self.api.act(self.machine, actions, key, screenshot)

    def begin(self, operation: str, key: str | None = None, **body: Any) -> Any:
        """Send an input and do not wait for its answer."""
        return self.api.begin(self.machine, operation, body, key)

    def begin_to_act(
        self, actions: Sequence[Mapping[str, Any]], key: str | None = None
    ) -> Future[Answer]:
        """As `act`, without waiting for the answer."""
        return self.api.begin_to_act(self.machine, actions, key)


@dataclass
class System:
    """A server of the test's own with one connected machine."""

    server: ServerProcess
    program: Program
    workstation: Workstation
    client: Program

    @classmethod
    @contextlib.contextmanager
    def running(cls, server: ServerProcess, display: str, **settings: Any) -> Iterator["System"]:
        """Both, ``settings`` being the client's."""
        with server.run() as program:
            api = server.api()
            workstation = Workstation.added(server.url, api, display, server.directory)
            with workstation.joined(**settings) as client:
                yield cls(server, program, workstation, client)
            api.close()


def is_final(answer: Answer) -> bool:
    """Whether a client has nothing more to ask for, as docs/reference/answers.md tells it."""
    return (answer.status < 500 and answer.status != 409) or answer.json.get("final") is True


def final_of(send: Callable[[], Answer]) -> Answer:
    """Send something again until its answer is final; then once more: it stays the same."""
    answers: list[Answer] = []

    def ends() -> bool:
        try:
            answers.append(send())
        except OSError:
            return False
        return is_final(answers[-1])

    until(ends, "the answer is final")
    again = send()
    assert (again.status, again.body) == (answers[-1].status, answers[-1].body)
    assert again.headers["Idempotency-Replayed"] == "true"
    return again


def presses(events: list[DeviceEvent]) -> list[str]:
    """The events of keys and buttons, without the moves."""
    return [str(event) for event in events if event.kind != "MotionNotify"]


def sees(witness: Witness, event: str) -> None:
    """Wait until the witness sees something like ``ButtonPress 1``, and leave it seen."""
    until(lambda: event in map(str, witness.seen()), f"the witness sees {event}")


def travels(witness: Witness) -> None:
    """Wait until a drag is under way: the button is down and the pointer has moved since."""
    sees(witness, "ButtonPress 1")
    until(lambda: witness.seen()[-1].kind == "MotionNotify", "the pointer travels with the button")
