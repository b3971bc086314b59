"""``farhand machine list --watch``: the machines as they are, and as they change."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import click
from rich.console import Console

from server.cli.client import Api, printable, table_of
from server.cli.live.following import follow, write

COLUMNS: Final = ("id", "name", "state", "reason", "since", "round_trip_ms")
EVENTS: Final = ("machine", "machine_removed")

REDRAW_SECONDS: Final = 0.1
HOME_AND_CLEAR: Final = "\x1b[H\x1b[J"


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
    redraws = sys.stdout.isatty() and not api.as_json
    watched = Watched(write, redraws=redraws, as_json=api.as_json)
    with suppress(KeyboardInterrupt), _redrawing(watched):
        follow(api, watched, EVENTS, lambda: api.call_list("/v1/machines"))


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
