"""``python -m benchmarks.imports``: how many trajectories a second an import takes.

Beside each way of importing stands what the bare driver needs to insert such documents into a
collection with the same indexes, with the same guarantee: which leaves out HTTP, the checks, the
audit and the events.  Every way takes lines of its own; their rounds alternate, and each begins
when the list index has what the one before has left.
"""

import argparse
import asyncio
import http.client
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from benchmarks.library import WORKFLOWS
from benchmarks.subjects import Api, farhand, mongodb
from schemas.resources.trajectories import ImportedTrajectory
from schemas.steps.reviews import Editor
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.trajectories.marks import marked_new
from server.store.trajectories.writes import new_document
from server.trajectories.creation import new_trajectory

EDITOR: Final = Editor(token_id=UUID(int=1), token_name="benchmark", user_id=None)

FEW_WORKFLOWS = WORKFLOWS[:20]
LINE_BYTES = 1024
TOGETHER = 250
ALONE = 200
"""Of the way that takes one request for each, so many are enough."""

FLOOR = "the bare driver, 250 at once"
AT_LEAST = 2000
INDEXED = "the list index, behind one request for all"


def lines(seed: int, count: int) -> Iterator[bytes]:
    """Lines of an import, the same for the same seed."""
    random = Random(seed)
    for number in range(count):
        step = {"action": "click", "x": number, "y": 7, "text": ""}
        line = {
            "id": str(UUID(int=random.getrandbits(128), version=4)),
            "workflow_id": str(random.choice(FEW_WORKFLOWS)),
            "name": f"Order {random.randrange(10**6)} of customer {number}",
            "dimensions": {"width": 1280, "height": 800},
            "trajectory_data": [step] * 8,
        }
        missing = LINE_BYTES - len(json.dumps(line)) - 1
        line["trajectory_data"] = [*[step] * 7, {**step, "text": "x" * missing}]
        yield json.dumps(line).encode() + b"\n"


class Importer:
    """Each way of importing; each gives the seconds that the lines took."""

    def __init__(self, api: Api, floor: Database, served: Database, directory: Path) -> None:
        self._api = api
        self._database = floor
        self._served = served
        self._file = directory / "lines.jsonl"
        parts = urlsplit(api.url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port)

    async def driver(self, given: list[bytes]) -> float:
        """Insert the documents, and nothing else."""
        documents: list[Document] = []
        for line in given:
            new = ImportedTrajectory.model_validate_json(line)
            document = new_document(self._database, new_trajectory(UUID(int=1), EDITOR, new))
            documents.append({**document, "unindexed": None})
        collection = self._database.collection("trajectories")
        started = time.perf_counter()
        for begin in range(0, len(documents), TOGETHER):
            await collection.insert_many(documents[begin : begin + TOGETHER], ordered=False)
        return time.perf_counter() - started

    async def stream(self, given: list[bytes]) -> float:
        """One request with all of them."""
        body = b"".join(given)
        return await asyncio.to_thread(
            self._timed, lambda: self._answered(body, len(given), "imported")
        )

    async def command(self, given: list[bytes]) -> float:
        """The command line, its own start left out."""
        self._file.write_bytes(b"".join(given))
        return await asyncio.to_thread(self._timed, lambda: self._run(self._file)) - self._start

    async def one_by_one(self, given: list[bytes]) -> float:
        """A request for each, as the command line did before."""

        def post() -> None:
            for line in given:
                self._post("/v1/trajectories", line, "application/json", 201)

        return await asyncio.to_thread(self._timed, post)

    async def again(self, given: list[bytes]) -> float:
        """One request with all of them, which are there already."""
        await self.stream(given)
        await self.indexed()
        body = b"".join(given)
        return await asyncio.to_thread(
            self._timed, lambda: self._answered(body, len(given), "there_already")
        )

    async def indexed(self) -> float:
        """Wait until the list index has everything; the seconds that it took."""
        started = time.perf_counter()
        collection = self._served.collection("trajectories")
        while await collection.find_one(marked_new(), {"_id": True}, hint="unindexed") is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        return time.perf_counter() - started

    def warm_up(self) -> None:
        """See how long the command takes to do nothing."""
        self._file.write_bytes(b"")
        self._start = min(self._timed(lambda: self._run(self._file)) for _ in range(3))

    def _timed(self, once: Callable[[], object]) -> float:
        started = time.perf_counter()
        once()
        return time.perf_counter() - started

    def _answered(self, body: bytes, count: int, outcome: str) -> None:
        answer = self._post("/v1/trajectories/import", body, "application/x-ndjson", 200)
        if answer.count(b'"outcome":"%s"' % outcome.encode()) != count:
            raise RuntimeError(f"not all are {outcome}: {answer[:300]!r}")

    def _run(self, file: Path) -> None:
        subprocess.run(
            [sys.executable, "-m", "server", "trajectory", "import", str(file)],
            env={
                **os.environ,
                "FARHAND_URL": self._api.url,
                "FARHAND_TOKEN": self._api.token,
            },
            check=True,
            capture_output=True,
        )

    def _post(self, path: str, body: bytes, media_type: str, status: int) -> bytes:
        headers = {"Authorization": f"Bearer {self._api.token}", "Content-Type": media_type}
        self._connection.request("POST", path, body, headers)
        answer = self._connection.getresponse()
        said = answer.read()
        if answer.status != status:
            raise RuntimeError(f"{path} was answered {answer.status} {said[:300]!r}")
        return said


async def measure(arguments: argparse.Namespace, importer: Importer) -> dict[str, list[float]]:
    """The rates of each way, round after round."""
    ways = {
        FLOOR: (importer.driver, arguments.lines),
        "one request for all": (importer.stream, arguments.lines),
        "farhand trajectory import": (importer.command, arguments.lines),
        "all of it a second time": (importer.again, arguments.lines),
        "one request for each": (importer.one_by_one, min(ALONE, arguments.lines)),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    seed = 0
    importer.warm_up()
    for _ in range(arguments.rounds):
        for name, (way, count) in ways.items():
            seed += 1
            rates[name].append(count / await way(list(lines(seed, count))))
            waited = await importer.indexed()
            if way == importer.stream:
                rates.setdefault(INDEXED, []).append(count / waited)
    return rates


async def run(arguments: argparse.Namespace) -> None:
    """Start everything, measure, print, stop everything."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        uri = await stack.enter_async_context(mongodb(directory))
        api, _ = await stack.enter_async_context(farhand(directory / "server", uri))
        floor = await Database.open(uri, "floor")
        stack.callback(floor.close)
        served = await Database.open(uri, "server")
        stack.callback(served.close)
        rates = await measure(arguments, Importer(api, floor, served, directory))
    medians = {name: statistics.median(each) for name, each in rates.items()}
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores")
    print(f"{'trajectories of 1 KB a second':42}{'median':>10}{'worst':>10}{'of floor':>10}")
    for name, median in medians.items():
        share = median / medians[FLOOR]
        print(f"{name:42}{median:10.0f}{min(rates[name]):10.0f}{share:10.2f}")
    print(f"\nboth imports of many at once: at least {AT_LEAST}")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imports", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=int, default=3000, help="in a round")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
