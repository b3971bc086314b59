"""Secrets that runs type into programs, and that are sought everywhere else after.

Some runs are halted, some cancelled, and under some a node is killed, or leaves in order.  The
programs' own records, which lie elsewhere, say what they were given.
"""

import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from pymongo import MongoClient

from server.secrets.key_file import vault_of
from tests.canaries import looking
from tests.canaries.places import HEARTBEAT
from tests.canaries.run import new_canaries
from tests.faults.history import Clock
from tests.faults.world import World
from tests.machine_client.desktop.accessibility.rig import DEBIANS_PYTHON
from tests.processes import WAIT_SECONDS, Answer, ServedApi, until
from tests.run_kills.desk import Desk

HERE: Final = Path(__file__).parent
OF_A_RUN: Final = 20
POLL_SECONDS: Final = 0.2
END_SECONDS: Final = 300.0
SETTINGS: Final = {
    "heartbeat": HEARTBEAT,
    "input_timeout": "20",
    "authors_may_approve": "true",
    "webhook_private_addresses": "127.0.0.0/8",
}

_PROMPT: Final = (
    'touch "$1" "$1.reads"\n'
    'while IFS= read -rsp "Password: " line; do echo "$line" >> "$1"; echo; done'
)
PROGRAMS: Final[Mapping[str, Sequence[str]]] = {
    "gtk3": (DEBIANS_PYTHON, str(HERE / "gtk3_sign_in.py")),
    "qt5": (DEBIANS_PYTHON, str(HERE / "qt5_sign_in.py")),
    "terminal": ("xterm", "-geometry", "60x10+0+0", "-e", "bash", "-c", _PROMPT, "prompt"),
}


class Fate(StrEnum):
    """What becomes of a run in its middle."""

    NONE = "left alone"
    HALTED = "halted"
    CANCELLED = "cancelled"
    KILLED = "its node or another killed"
    HANDED_OVER = "its node or another left"


@dataclass
class RunsOutcome:
    """What was typed, and where any of it was found."""

    typed: int = 0
    given: int = 0
    """Those that the programs' own records have."""
    runs: list[tuple[Fate, str]] = field(default_factory=list)
    pictures: int = 0
    wrong: list[str] = field(default_factory=list)
    found: dict[str, set[str]] = field(default_factory=dict)

    def table(self) -> str:
        """All of it, for a person."""
        lines = [
            f"{self.typed} canaries in {len(self.runs)} runs, {self.given} given to the programs, "
            f"{self.pictures} pictures read"
        ]
        counted = {(fate, end): self.runs.count((fate, end)) for fate, end in self.runs}
        lines += [f"  {n} runs {fate}: {end}" for (fate, end), n in sorted(counted.items())]
        lines += self.wrong
        lines += [f"  {len(those)} in {where}" for where, those in sorted(self.found.items())]
        return "\n".join(lines if self.found else [*lines, "  none found anywhere"])


def measured_in_runs(
    directory: Path, names: Sequence[str], count: int, *, seed: int = 1
) -> RunsOutcome:
    """Have runs type so many canaries in all into these programs; what came of it."""
    outcome = RunsOutcome()
    searched, records = directory / "searched", directory / "records"
    searched.mkdir()
    records.mkdir()
    canaries = new_canaries(random.Random(seed), count)
    with ExitStack() as stack:
        key_file = directory / "secret-key"
        vault_of(key_file, may_make=True)
        settings = {**SETTINGS, "secret_key_file": str(key_file)}
        running = World.of_nodes(searched, Clock(), 2, members=1, **settings)
        world = stack.enter_context(running)
        api = stack.enter_context(closing(ServedApi(world.active.server.url, world.token)))
        _tell_webhook(api, stack.enter_context(_received(searched / "webhooks")))
        stack.enter_context(_events(world, searched / "events"))
        parts = [canaries[number :: len(names)] for number in range(len(names))]
        threads = []
        for name, part in zip(names, parts, strict=True):
            placed = Desk.placed(
                name,
                searched,
                world,
                program=PROGRAMS[name],
                record=records / name,
                heartbeat=HEARTBEAT,
            )
            desk = stack.enter_context(placed)
            desk.token = api.add_machine(name)
            desk.client.start()
            runner = _Runner(desk, world, part, outcome)
            threads.append(threading.Thread(target=runner.work, name=name, daemon=True))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        _search(outcome, searched, world, canaries)
    outcome.found |= looking.in_files(searched, canaries)
    return outcome


class _Runner:
    """Runs on one machine, one after another, until all of its canaries were typed."""

    def __init__(
        self, desk: Desk, world: World, canaries: Sequence[str], outcome: RunsOutcome
    ) -> None:
        self._desk, self._world = desk, world
        self._canaries, self._outcome = canaries, outcome

    def work(self) -> None:
        """Type all of them."""
        is_shown = self._desk.name != "terminal"
        path = f"/v1/computer/{self._desk.name}/elements?role=password%20text"
        if is_shown:
            until(lambda: _has_items(self._call("GET", path)), "the field is there")
        else:
            until(Path(f"{self._desk.record}.reads").exists, "the terminal reads")
        # Of all inputs, with all texts: those of a run with secrets are none that it may keep.
        path = f"/v1/machines/{self._desk.name}/recordings"
        recording = self._call("POST", path, {"keep_texts": True})
        assert recording.status == 201, recording.body
        for number, first in enumerate(range(0, len(self._canaries), OF_A_RUN)):
            part = self._canaries[first : first + OF_A_RUN]
            fate = [*Fate][(number + 1) % len(Fate)]
            try:
                self._run(part, fate)
            except AssertionError as failure:
                self._outcome.wrong.append(f"{self._desk.name}: {failure}")
        recorded = self._call("POST", f"/v1/recordings/{recording.json['id']}/stop").json
        if not recorded["secrets"]:
            self._outcome.wrong.append(f"{self._desk.name}: no secret was recorded: {recorded}")

    def _run(self, canaries: Sequence[str], fate: Fate) -> None:
        before = len(self._given())
        secrets = {f"s{number}": each for number, each in enumerate(canaries)}
        trajectory = self._approved(secrets, fate)
        new = {
            "trajectory_id": trajectory,
            "machine_id": self._desk.name,
            "sensitive_input_values": secrets,
        }
        key = {"Idempotency-Key": str(uuid4())}
        run = self._call("POST", "/v1/runs", new, key).json
        run = self._followed(run, fate, half=len(canaries) + 2)
        done = [each["number"] for each in run["steps"] if each["status"] == "done"]
        # The first two steps empty the field; then a secret and the return key take turns, and
        # before the second half of a halted run is a step that it was halted at.
        half = len(canaries) // 2 if fate is Fate.HALTED else len(canaries)
        entered = [
            each
            for number, each in enumerate(canaries)
            if 2 * number + 4 + (number >= half) in done
        ]
        until(lambda: len(self._given()) - before >= len(entered), "all of it was heard")
        given = self._given()[before:]
        if fate is Fate.CANCELLED and given == [*canaries[: len(entered) + 1]]:
            entered = given  # It was cancelled as it was entering this one.
        if given != entered:
            self._outcome.wrong.append(f"run {run['id']} ({fate}) entered {len(given)}: {run}")
        if fate is not Fate.CANCELLED and run["status"] != "success":
            self._outcome.wrong.append(f"run {run['id']} ({fate}): {run['error']}")
        self._outcome.typed += len(canaries)
        self._outcome.given += len(given)
        self._outcome.runs.append((fate, run["status"]))

    def _followed(self, run: Any, fate: Fate, half: int) -> Any:
        """The run once it has ended, and its fate has come over it in its middle."""
        deadline = time.monotonic() + END_SECONDS
        is_struck = fate in (Fate.NONE, Fate.HALTED)
        path = f"/v1/runs/{run['id']}"
        while run["ended_at"] is None:
            assert time.monotonic() < deadline, f"no end: {run}"
            if not is_struck and run["step"] > half:
                is_struck = True
                self._strike(fate, path)
            if run["halted"] is not None:
                # What is stored and told of it meanwhile is sought as well.
                skip = {"halted_at": run["halted"]["at"], "skip": True}
                self._call("POST", f"{path}/continue", skip)
            time.sleep(POLL_SECONDS)
            run = self._call("GET", path).json
        return run

    def _strike(self, fate: Fate, path: str) -> None:
        node = self._world.nodes[hash(path) % len(self._world.nodes)].process
        match fate:
            case Fate.CANCELLED:
                self._call("POST", f"{path}/cancel")
            case Fate.KILLED:
                node.kill()
            case Fate.HANDED_OVER:
                node.signal(signal.SIGTERM)

    def _approved(self, secrets: Mapping[str, str], fate: Fate) -> str:
        """A trajectory that types each of them, and enters it."""
        clear = "ctrl+u" if self._desk.name == "terminal" else "ctrl+a delete"
        click: dict[str, Any] = {"operation": "mouse.click", "body": {"x": 100, "y": 40}}
        steps = [click, _keys(clear)]
        for name in secrets:
            if fate is Fate.HALTED and name == f"s{len(secrets) // 2}":
                element = {"role": "push button", "name": "Not there"}
                box = {"x": 90, "y": 30, "width": 20, "height": 20}
                steps.append({**click, "target": {"element": element, "box": box}})
            steps.append({"operation": "keyboard.type", "body": {}, "secret": name})
            steps.append(_keys("enter"))
        made = self._call(
            "POST",
            "/v1/trajectories",
            {
                "workflow_id": str(uuid4()),
                "dimensions": {"width": 640, "height": 480},
                "trajectory_data": steps,
            },
        )
        assert made.status == 201, made.body
        review = {"decision": "approve", "content_hash": made.json["content_hash"]}
        path = f"/v1/trajectories/{made.json['id']}/review"
        assert self._call("POST", path, review).status == 200
        return str(made.json["id"])

    def _given(self) -> list[str]:
        return self._desk.record.read_text().splitlines()

    def _call(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """What a node answers, as soon as one can."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            for port in self._world.ports():
                try:
                    with closing(ServedApi(f"http://127.0.0.1:{port}", self._world.token)) as api:
                        answer = api.call(method, path, body, headers)
                except OSError:
                    continue
                if answer.status < 500:
                    return answer
            assert time.monotonic() < deadline, f"no node answers {method} {path}"
            time.sleep(POLL_SECONDS)


def _keys(text: str) -> dict[str, Any]:
    return {"operation": "keyboard.key", "body": {"text": text}}


def _has_items(answer: Answer) -> bool:
    return answer.status == 200 and bool(answer.json["items"])


def _search(outcome: RunsOutcome, directory: Path, world: World, canaries: list[str]) -> None:
    """Look for what was typed wherever it may be kept, told and shown."""
    until(lambda: all(node.is_awake for node in world.nodes), "both nodes are there")
    outcome.found |= looking.in_database(world.replica_set.uri, canaries)
    for node in world.nodes:
        with closing(ServedApi(node.server.url, world.token)) as api:
            outcome.found |= looking.in_answers(api, canaries)
    with MongoClient[dict[str, Any]](world.replica_set.uri) as client:
        database = client["farhand"]
        if left := database.runs.count_documents({"sealed": {"$ne": None}}):
            outcome.wrong.append(f"{left} runs that have ended still have secrets")
        for each in database.pictures.find():
            outcome.pictures += 1
            if those := looking.in_picture(each["content"], canaries):
                outcome.found.setdefault("pictures", set()).update(those)


def _tell_webhook(api: ServedApi, url: str) -> None:
    events = ["run_complete", "help_requested", "machine_offline", "machine_online"]
    made = api.call("POST", "/v1/webhooks", {"url": url, "events": events})
    assert made.status == 201, made.body


@contextmanager
def _received(file: Path) -> Iterator[str]:
    """Where webhooks are posted to, which keeps all of it in a file."""
    told = file.open("ab", buffering=0)

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.write(str(self.headers).encode())
            told.write(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/hook"
    finally:
        server.shutdown()
        server.server_close()
        told.close()


@contextmanager
def _events(world: World, file: Path) -> Iterator[None]:
    """Keep whatever events either node tells meanwhile."""
    with ExitStack() as stack:
        told = stack.enter_context(file.open("wb"))
        for node in world.nodes:
            process = subprocess.Popen(
                [
                    *("curl", "--silent", "--no-buffer", "--retry", "999", "--retry-all-errors"),
                    f"{node.server.url}/v1/events",
                    *("--header", f"Authorization: Bearer {world.token}"),
                ],
                stdout=told,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield
