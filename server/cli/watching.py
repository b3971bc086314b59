"""``farhand machine list --watch``: the machines as they are, and as they change."""

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

import click
from rich.console import Console

from server.cli.client import Api, printable, table_of
from server.tasks import Tasks

COLUMNS: Final = ("id", "name", "state", "reason", "since", "round_trip_ms")
EVENTS: Final = "/v1/events?types=machine,machine_removed"
PAGE: Final = 1000

COME_BACK_SECONDS: Final = 2.0
SILENCE_SECONDS: Final = 40.0
"""After this the server, which says something every 15 s, is taken for gone."""

REDRAW_SECONDS: Final = 0.1
MAX_WAITING: Final = 10_000
MAX_EVENT_BYTES: Final = 1024 * 1024
HOME_AND_CLEAR: Final = "\x1b[H\x1b[J"


class EventParser:
    """Takes a stream of server-sent events apart, in whatever pieces it comes."""

    def __init__(self) -> None:
        self._rest = b""
        self._type, self._data = "", b""

    def feed(self, content: bytes) -> Iterator[tuple[str, Any]]:
        """Type and decoded data of each event that is complete now.

        Raises ConnectionError for what is no such stream.
        """
        *lines, self._rest = (self._rest + content).split(b"\n")
        if len(self._rest) > MAX_EVENT_BYTES:
            raise ConnectionError("what comes is no stream of events")
        for line in lines:
            name, _, value = line.rstrip(b"\r").partition(b":")
            value = value.removeprefix(b" ")
            if name == b"event":
                self._type = value.decode(errors="replace")
            elif name == b"data":
                self._data += value
            elif not line.strip() and self._data:
                kind, data = self._type, self._data
                self._type, self._data = "", b""
                try:
                    yield kind, json.loads(data)
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
        self._is_stale = self._is_stale or text != self._remark
        self._remark = text

    def draw(self, console: Console) -> None:
        """Show all of it anew, as much as there is room for; nothing where nothing has changed."""
        if not (self._redraws and self._is_stale):
            return
        self._is_stale = False
        machines = sorted(self._machines.values(), key=lambda machine: str(machine["id"]))
        # Beside the rows: the head, what is not shown, a remark, and the line of the cursor.
        room = max(console.height - 4, 1)
        with console.capture() as captured:
            console.print(table_of(machines[:room], COLUMNS, wraps=False))
            if len(machines) > room:
                console.print(f"and {len(machines) - room} more", highlight=False)
            if self._remark:
                console.print(printable(self._remark), markup=False, highlight=False)
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
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_watch(api, watched))


async def _watch(api: Api, watched: Watched) -> None:
    background = Tasks()
    background.start_and_report(_redraw(watched), "redraw")
    try:
        while True:
            ended = "the stream has ended"
            try:
                await _follow(api, watched, background)
            except BrokenPipeError:
                raise  # Whoever read what is written here has gone; click ends the program.
            except ConnectionError as error:
                ended = str(error)
            watched.remark(
                f"no word from {api.url} ({ended}); trying again (farhand doctor on its host "
                "looks closer)"
            )
            await asyncio.sleep(COME_BACK_SECONDS)
    finally:
        await background.close(0)


async def _redraw(watched: Watched) -> None:
    """Draw what has changed, some times a second at most."""
    while True:
        watched.draw(Console())
        await asyncio.sleep(REDRAW_SECONDS)


async def _follow(api: Api, watched: Watched, background: Tasks) -> None:
    """Listen until the stream ends; all machines are read once it has begun.

    In this order nothing is missed between the two, and whatever is told afterwards is newer.
    """
    pieces: asyncio.Queue[bytes] = asyncio.Queue(MAX_WAITING)
    listening = background.start(api.listen(EVENTS, pieces.put_nowait), "listen")

    def wake(_: object) -> None:
        if pieces.empty():
            pieces.put_nowait(b"")

    listening.add_done_callback(wake)
    parser, has_begun = EventParser(), False
    try:
        while not (listening.done() and pieces.empty()):
            piece = await _next(pieces)
            if piece and not has_begun:
                has_begun = True
                watched.read(await asyncio.to_thread(_all_machines, api))
                watched.remark("")
            for kind, data in parser.feed(piece):
                watched.heard(kind, data)
        await listening
    finally:
        listening.cancel()


async def _next(pieces: "asyncio.Queue[bytes]") -> bytes:
    try:
        async with asyncio.timeout(SILENCE_SECONDS):
            return await pieces.get()
    except TimeoutError:
        raise ConnectionError(f"nothing came for {SILENCE_SECONDS:g} s") from None


def _all_machines(api: Api) -> list[Any]:
    """Every machine, page by page.  Raises ConnectionError where they cannot be read now."""
    items: list[Any] = []
    while True:
        try:
            page = api.call("GET", f"/v1/machines?limit={PAGE}&skip={len(items)}")
        except click.ClickException as error:
            raise ConnectionError(error.message) from None
        items += page["items"]
        if not page["items"] or len(items) >= page["total"]:
            return items
