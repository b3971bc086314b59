"""HTTP clients that send commands under keys and ask again until the answer is final."""

import http.client
import json
import random
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tests.faults import inputs
from tests.faults.history import Clock, CommandHistory, Try, random_command

TWINS = 0.15
AGAIN = 0.5
OTHER_BODIES = 0.05
LOOKS = 0.2
RELEASES = 0.6
LONGEST_RETRY = 4
IMPATIENT = 0.25
THREADS = 200

NOT_KEPT = 404
"""Without a key nothing is kept of a command whose server ends before it can say so."""


def address_of(command: CommandHistory) -> tuple[str, str]:
    """The method and the path of a command's requests."""
    machine = f"/v1/computer/{command.machine}"
    match command.input.operation:
        case inputs.COPY:
            return "PUT", f"{machine}/clipboard"
        case inputs.BATCH:
            return "POST", f"{machine}/actions"
        case operation:
            return "POST", f"{machine}/input/{operation}"


@dataclass(frozen=True)
class ClientTiming:
    """How clients wait, in seconds: for an answer, before they ask again, and after a final one.

    A part of all requests is impatient: less than the server needs when something is wrong.  The
    wait before the next request grows, up to `LONGEST_RETRY` times as long.
    """

    patience: float = 12.0
    impatience: tuple[float, float] = (0.2, 3.0)
    retry: tuple[float, float] = (0.1, 1.0)
    again: tuple[float, float] = (0.0, 4.0)


class Load:
    """Sends ``rate`` new commands a second while there is room among ``open_limit`` open ones.

    Every command goes to one of the machines; every request to one of the ``ports`` of the moment.
    Some commands are sent by two clients at once; after many final answers the client asks again,
    after some with another body.  Of what a command keeps pressed, most is released by another one,
    and the rest by whatever comes next.  A part of all, ``without_key``, is sent once and without a
    key.  Texts are copied only where ``copies``, and put into a field of machines ``with_field``.
    """

    def __init__(
        self,
        *,
        seed: int,
        machines: Sequence[str],
        ports: Callable[[], Sequence[int]],
        token: str,
        clock: Clock,
        rate: float,
        timing: ClientTiming | None = None,
        open_limit: int = 128,
        without_key: float = 0.0,
        copies: bool = True,
        with_field: Collection[str] = (),
    ) -> None:
        self.commands: list[CommandHistory] = []
        self._seed = seed
        self._machines = machines
        self._ports = ports
        self._token = token
        self.clock = clock
        self._rate = rate
        self._timing = timing or ClientTiming()
        self._without_key = without_key
        self._copies = copies
        self._with_field = with_field
        self._room = threading.Semaphore(open_limit)
        self._stopping, self._over = threading.Event(), threading.Event()
        self._jobs = 0
        self._idle = threading.Condition()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="client")
        self._pacer = threading.Thread(target=self._send_commands, name="load", daemon=True)

    @property
    def requests(self) -> int:
        """How many requests have been answered, or not, so far."""
        return sum(len(command.tries) + len(command.other_tries) for command in self.commands)

    def start(self) -> None:
        """Begin to send."""
        self._pacer.start()

    def stop(self) -> None:
        """Begin no further command; those that are open go on."""
        self._stopping.set()
        self._pacer.join()

    def wait(self, seconds: float) -> bool:
        """Wait until every client has what it wants; False where that takes too long."""
        with self._idle:
            return self._idle.wait_for(lambda: self._jobs == 0, seconds)

    def close(self) -> None:
        """Give up whatever is still open."""
        self._stopping.set()
        self._over.set()
        self._pool.shutdown(cancel_futures=True)

    def _send_commands(self) -> None:
        next_at, number = self.clock(), 0
        while not self._stopping.wait(max(0.0, next_at - self.clock())):
            if not self._room.acquire(timeout=0.5):
                continue
            # What there was no room for is not made up for later.
            next_at = max(next_at + 1 / self._rate, self.clock() - 1)
            self._send_command(number)
            number += 1

    def _send_command(self, number: int) -> None:
        rng = random.Random(f"{self._seed}/{number}")
        machine = rng.choice(self._machines)
        key = f"run-{self._seed}-{number}"
        has_field = machine in self._with_field
        command = random_command(
            number, key, machine, rng, copies=self._copies, has_field=has_field
        )
        self.commands.append(command)
        needs_key = command.release is not None or bool(command.input.parts)
        if not needs_key and rng.random() < self._without_key:
            command.is_keyed = False
            self._begin(lambda: self._send_once(command, rng))
            return
        self._begin(lambda: self._be_client(command, rng))
        if rng.random() < TWINS:
            twin_rng = random.Random(f"{self._seed}/{number}/twin")
            self._begin(lambda: self._ask_until_final(command, twin_rng))

    def _begin(self, job: Callable[[], None]) -> None:
        with self._idle:
            self._jobs += 1

        def work() -> None:
            try:
                job()
            finally:
                with self._idle:
                    self._jobs -= 1
                    self._idle.notify_all()

        self._pool.submit(work)

    def _be_client(self, command: CommandHistory, rng: random.Random) -> None:
        try:
            self._ask_until_final(command, rng)
            if command.release is not None and rng.random() < RELEASES:
                self.commands.append(command.release)
                self._ask_until_final(command.release, rng)
        finally:
            self._room.release()
        while rng.random() < AGAIN:
            # Towards the end nobody has the time to wait, only to ask.
            self._stopping.wait(rng.uniform(*self._timing.again))
            self._ask_until_final(command, rng)
        if rng.random() < OTHER_BODIES:
            body = command.other_input.body
            self._until_final(command, body, command.other_tries, rng)

    def _send_once(self, command: CommandHistory, rng: random.Random) -> None:
        """Be a client without a key, who looks until the answer is final and never sends again."""
        try:
            patience = self._timing.patience
            answer = self._send(command, command.input.body, rng.choice(self._ports()), patience)
            command.tries.append(answer)
            while answer.problem == "outcome-pending" and not self._over.is_set():
                self._over.wait(rng.uniform(*self._timing.retry) * LONGEST_RETRY)
                self._look(command, answer.json["command_id"], rng, patience)
                if command.first_final() is not None or command.looks[-1].status == NOT_KEPT:
                    return
        finally:
            self._room.release()

    def _ask_until_final(self, command: CommandHistory, rng: random.Random) -> None:
        self._until_final(command, command.input.body, command.tries, rng)

    def _until_final(
        self,
        command: CommandHistory,
        body: Mapping[str, Any],
        tries: list[Try],
        rng: random.Random,
    ) -> None:
        asked = 0
        while not self._over.is_set():
            asked += 1
            patience = self._timing.patience
            if rng.random() < IMPATIENT:
                patience = rng.uniform(*self._timing.impatience)
            answer = self._send(command, body, rng.choice(self._ports()), patience)
            tries.append(answer)
            if answer.is_final:
                return
            if "command_id" in answer.json and rng.random() < LOOKS:
                self._look(command, answer.json["command_id"], rng, patience)
            self._over.wait(rng.uniform(*self._timing.retry) * min(asked, LONGEST_RETRY))

    def _look(
        self, command: CommandHistory, command_id: str, rng: random.Random, patience: float
    ) -> None:
        path = f"/v1/machines/{command.machine}/commands/{command_id}"
        port = rng.choice(self._ports())
        command.looks.append(self._request("GET", path, None, {}, port, patience))

    def _send(
        self, command: CommandHistory, body: Mapping[str, Any], port: int, patience: float
    ) -> Try:
        method, path = address_of(command)
        headers = {"Content-Type": "application/json"}
        if command.is_keyed:
            headers["Idempotency-Key"] = command.key
        return self._request(method, path, json.dumps(body), headers, port, patience)

    def _request(
        self,
        method: str,
        path: str,
        body: str | None,
        headers: Mapping[str, str],
        port: int,
        patience: float,
    ) -> Try:
        sent_at, node = self.clock(), f"port {port}"
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience)
        try:
            authorized = {**headers, "Authorization": f"Bearer {self._token}"}
            connection.request(method, path, body, authorized)
            response = connection.getresponse()
            return Try(sent_at, self.clock(), node, response.status, response.read())
        except (OSError, http.client.HTTPException) as error:
            return Try(sent_at, self.clock(), node, 0, b"", type(error).__name__)
        finally:
            connection.close()
