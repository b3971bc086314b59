"""``farhand machine list --watch``: the machines as they are, and as they change."""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import click
from httpx import Response
from httpx_sse import EventSource, SSEError
from rich.console import Console

from server.cli.client import CONNECT_SECONDS, REQUEST_SECONDS, Api, printable, table_of
from server.client.connections import Connection, reply_of

COLUMNS: Final = ("id", "name", "state", "reason", "since", "round_trip_ms")
EVENTS: Final = "/v1/events?types=machine,machine_removed"

COME_BACK_SECONDS: Final = 2.0
SILENCE_SECONDS: Final = 40.0
"""After this the server, which says something every 15 s, is taken for gone."""

REDRAW_SECONDS: Final = 0.1
RETRIED_STATUSES: Final = (429, 502, 503, 504)
MAX_EVENT_BYTES: Final = 1024 * 1024
HOME_AND_CLEAR: Final = "\x1b[H\x1b[J"


def events_of(response: Response) -> Iterator[tuple[str, Any]]:
    """Type and decoded data of each event of a stream, as they come.

    Raises ConnectionError for what is no such stream.
    """
    unread = 0

    def pieces() -> Iterator[bytes]:
        nonlocal unread
        for piece in response.iter_raw():
            unread += len(piece)
            if unread > MAX_EVENT_BYTES:
                raise ConnectionError("what comes is no stream of events")
            yield piece

    bounded = Response(response.status_code, headers=response.headers, content=pieces())
    try:
        for event in EventSource(bounded).iter_sse():
            unread = 0
            if event.data:
                yield event.event, json.loads(event.data)
    except SSEError:
        raise ConnectionError("what comes is no stream of events") from None
    except ValueError:
        raise ConnectionError("an event is not JSON") from None


class Watched:
    """The machines, and how they are shown: redrawn, or one line for each change."""

    def __init__(self, write: Callable[[str], None], *, redraws: bool, as_json: bool) -> None:
        self._write = write
        self._redraws = redraws
        self._as_json = as_json
        self._machines: dict[str, Any] = {}
        self._remark = ""
        self._is_stale = True
        # One thread listens, another draws.
        self._lock = threading.Lock()

    def read(self, items: list[Any]) -> None:
        """Take all machines as they are now; what differs is told."""
        fresh = {item["id"]: item for item in items}
        for gone in [known for known in self._machines if known not in fresh]:
            self.heard("machine_removed", {"id": gone})
        for item in items:
            self.heard("machine", item)

    def heard(self, kind: str, data: Any) -> None:
        """Take an event about a machine."""
        machine_id = data["id"]
        with self._lock:
            if kind == "machine_removed":
                if self._machines.pop(machine_id, None) is not None:
                    self._tell({"id": machine_id, "state": "removed"})
            elif kind == "machine" and self._machines.get(machine_id) != data:
                self._machines[machine_id] = data
                self._tell(data)

    def remark(self, text: str) -> None:
        """Say something about the connection; nothing, if empty."""
        if text != self._remark and not self._redraws and text:
            click.echo(text, err=True)
        with self._lock:
            self._is_stale = self._is_stale or text != self._remark
            self._remark = text

    def draw(self, console: Console) -> None:
        """Show all of it anew, as much as there is room for; nothing where nothing has changed."""
        with self._lock:
            if not (self._redraws and self._is_stale):
                return
            self._is_stale = False
            machines, remark = list(self._machines.values()), self._remark
        machines.sort(key=lambda machine: str(machine["id"]))
        # Beside the rows: the head, what is not shown, a remark, and the line of the cursor.
        room = max(console.height - 4, 1)
        with console.capture() as captured:
            console.print(table_of(machines[:room], COLUMNS, wraps=False))
            if len(machines) > room:
                console.print(f"and {len(machines) - room} more", highlight=False)
            if remark:
                console.print(printable(remark), markup=False, highlight=False)
        self._write(HOME_AND_CLEAR + captured.get())

    def _tell(self, machine: Any) -> None:
        self._is_stale = True
        if self._as_json:
            self._write(json.dumps(machine) + "\n")
        elif not self._redraws:
            facts = (machine.get(name) for name in ("since", "id", "state", "reason"))
            self._write(printable("  ".join(str(fact) for fact in facts if fact)) + "\n")


def watch_machines(api: Api) -> None:
    """Show the machines until Ctrl-C."""

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    redraws = sys.stdout.isatty() and not api.as_json
    watched = Watched(write, redraws=redraws, as_json=api.as_json)
    with suppress(KeyboardInterrupt), _redrawing(watched):
        _watch(api, watched)


def _watch(api: Api, watched: Watched) -> None:
    while True:
        ended = "the stream has ended"
        try:
            _follow(api, watched)
        except BrokenPipeError:
            raise  # Whoever read what is written here has gone; click ends the program.
        except TimeoutError:
            ended = f"nothing came for {SILENCE_SECONDS:g} s"
        except ConnectionError as error:
            ended = str(error)
        watched.remark(
            f"no word from {api.url} ({ended}); trying again (farhand doctor on its host "
            "looks closer)"
        )
        time.sleep(COME_BACK_SECONDS)


@contextmanager
def _redrawing(watched: Watched) -> Iterator[None]:
    """Draw what has changed, some times a second at most."""
    ended = threading.Event()

    def redraw() -> None:
        watched.draw(Console())
        while not ended.wait(REDRAW_SECONDS):
            watched.draw(Console())

    thread = threading.Thread(target=redraw, name="redraw", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _follow(api: Api, watched: Watched) -> None:
    """Listen until the stream ends; all machines are read once it has begun.

    In this order nothing is missed between the two, and whatever is told afterwards is newer.
    """
    with (
        Connection(api.url, api.token, SILENCE_SECONDS, CONNECT_SECONDS) as server,
        server.opened("GET", EVENTS) as response,
    ):
        if response.status_code in RETRIED_STATUSES:
            raise ConnectionError(response.reason_phrase)
        if response.status_code != 200:
            raise click.ClickException(reply_of(response, REQUEST_SECONDS).refusal)
        watched.read(_all_machines(api))
        watched.remark("")
        for kind, data in events_of(response):
            watched.heard(kind, data)


def _all_machines(api: Api) -> list[Any]:
    """Every machine.  Raises ConnectionError where they cannot be read now."""
    try:
        machines: list[Any] = api.call_list("/v1/machines")["items"]
    except click.ClickException as error:
        raise ConnectionError(error.message) from None
    return machines
