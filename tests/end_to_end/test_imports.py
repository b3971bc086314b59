"""Imports of many lines by real processes: what a crash leaves, and what they need of memory."""

import http.client
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from schemas.resources.trajectories import MAX_TRAJECTORY_BYTES
from server.cli.client import Api
from server.web.bodies.lines import BATCH_LINES
from tests.commandline import Served, command, environment, serving
from tests.imports import PATH, line
from tests.processes import free_port, go_on, stop, until


def api_of(served: Served) -> Api:
    token = (served.data_dir / "admin-token").read_text().strip()
    return Api(served.url, token, as_json=True)


def stored(api: Api, workflow: str) -> int:
    """How many there are of a workflow."""
    path = f"/v1/trajectories?is_generated=null&limit=1&workflow_id={workflow}"
    return int(api.call("GET", path)["total"])


Importing = Callable[[Api, Path], "subprocess.Popen[str]"]


@pytest.fixture
def importing() -> Iterator[Importing]:
    """Begins ``farhand trajectory import`` as a process, which is ended with the test."""
    begun = []

    def begin(api: Api, file: Path) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            command(["trajectory", "import", str(file), "--json"]),
            env=environment(FARHAND_URL=api.url, FARHAND_TOKEN=api.token),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        begun.append(process)
        return process

    yield begin
    for process in begun:
        process.kill()
        process.communicate()


class Feed:
    """A named pipe with the first of some lines in it, and the rest once that is wanted."""

    def __init__(self, path: Path, lines: Sequence[bytes], first: int) -> None:
        os.mkfifo(path)
        self.path = path
        self._parts = b"".join(lines[:first]), b"".join(lines[first:])
        self._is_all_wanted = Event()
        Thread(target=self._write, name="feed", daemon=True).start()

    def give_the_rest(self) -> None:
        """Nobody needs to read it: a command that was killed does not."""
        self._is_all_wanted.set()

    def _write(self) -> None:
        first, rest = self._parts
        with suppress(BrokenPipeError), self.path.open("wb", buffering=0) as pipe:
            pipe.write(first)
            self._is_all_wanted.wait()
            pipe.write(rest)


def names(api: Api, workflow: str) -> list[str]:
    """The names of all of a workflow."""
    path = f"/v1/trajectories?is_generated=null&limit=1000&workflow_id={workflow}&skip="
    pages = [api.call("GET", f"{path}{skip}")["items"] for skip in range(0, 5000, 1000)]
    return sorted(item["name"] for page in pages for item in page)


@pytest.mark.parametrize("has_ids", [True, False])
def test_server_that_is_killed_in_the_middle_loses_and_doubles_nothing(
    mongodb: str, tmp_path: Path, database_name: str, importing: Importing, has_ids: bool
) -> None:
    count, workflow, port = 4000, str(uuid4()), str(free_port())
    own = [str(uuid4()) if has_ids else None for _ in range(count)]
    lines = [
        line(id=each, workflow_id=workflow, name=f"{number:04}") for number, each in enumerate(own)
    ]
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b"".join(lines))
    # It comes to no end before the server is killed.
    feed = Feed(tmp_path / "feed", lines, 3 * count // 4)
    started = (mongodb, tmp_path / "data", database_name, "--port", port)
    with serving(*started) as served:
        api = api_of(served)
        running = importing(api, feed.path)
        until(lambda: stored(api, workflow) >= 500, "some of it is imported")
        # It waits ten seconds for a server, and a start may take longer on a busy host.
        stop(running.pid)
        served.process.kill()
        served.process.wait()
        if has_ids:
            # Then the command is gone as well, and is given again.
            running.kill()
            running.communicate()
    with serving(*started):
        before = stored(api, workflow)
        assert before < count
        if has_ids:
            running = importing(api, file)
        go_on(running.pid)
        feed.give_the_rest()
        output, errors = running.communicate(timeout=60)
        assert running.returncode == 0, errors
        said = json.loads(output)
        assert said["imported"] + said["there_already"] == count
        assert said["wrong"] == []
        if has_ids:
            assert said["there_already"] == before
        assert names(api, workflow) == [f"{number:04}" for number in range(count)]
        created = api.call("GET", "/v1/audit?action=trajectory.created&limit=1")
        # The entries follow what they are about: those of one batch may be missing.
        assert count - BATCH_LINES <= created["total"] <= count


def memory(served: Served, name: str) -> int:
    """What the server's process needs, or needed at most, in bytes."""
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    found = re.search(rf"{name}:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


def test_memory_grows_neither_with_the_number_of_lines_nor_with_that_of_steps(
    mongodb: str, tmp_path: Path, database_name: str
) -> None:
    # Wrong ones take the same way, and need no database for 200,000 of them.
    wrong, count, batches = b'"%s"\n' % (b"x" * 200), 200_000, 400
    # One trajectory of a million steps.
    begin, step, end = (
        b'{"trajectory_data":[',
        b'{"operation":"wait","body":{"seconds":1}},',
        b"{}]}\n",
    )
    steps = 1_000_000
    length = count * len(wrong) + len(begin) + steps * len(step) + len(end) + 2 * len(line())
    with serving(mongodb, tmp_path / "data", database_name) as served:
        api = api_of(served)
        parts = urlsplit(api.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        connection.putrequest("POST", PATH)
        connection.putheader("Authorization", f"Bearer {api.token}")
        connection.putheader("Content-Type", "application/x-ndjson")
        connection.putheader("Content-Length", str(length))
        connection.endheaders(line())

        def send() -> None:
            for _ in range(batches):
                connection.send(wrong * (count // batches))
            connection.send(begin)
            for _ in range(batches):
                connection.send(step * (steps // batches))
            connection.send(end + line())

        sender = Thread(target=send)
        response = connection.response_class(connection.sock, method="POST")
        response.begin()
        before = memory(served, "VmRSS")
        sender.start()
        seen, answer, too_long = 0, b"", b""
        for answer in response:
            is_wrong = b'"outcome":"wrong"' in answer
            seen += is_wrong
            too_long = answer if is_wrong else too_long
        sender.join()
        connection.close()
        response.close()
        assert seen == count + 1
        words = f"the line may have at most {MAX_TRAJECTORY_BYTES} bytes"
        assert json.loads(too_long)["error"]["detail"] == words
        assert json.loads(answer)["outcome"] == "imported"
        assert api.call("GET", "/v1/trajectories?is_generated=null&limit=1")["total"] == 2
        assert memory(served, "VmHWM") - before < 2 * MAX_TRAJECTORY_BYTES
