"""How long an event of a hand takes to the X server, beside a bare websocket's echo.

``python -m tests.end_to_end.hand --count 1000`` measures it on loopback: from before the batch is
sent until the witness, which is told by the X server, has seen the event.  All of Farhand is in
between, and real: server, link, machine client.  The floor is one message there and back to a
websocket server of the same library, in a process of its own, that does nothing else.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from tornado.web import Application
from tornado.websocket import WebSocketHandler
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.desktop import Witness, set_layout, virtual_display
from tests.end_to_end.system import Workstation
from tests.hand_client import SUBPROTOCOL, button, hand_path, key, move
from tests.processes import ServerProcess

PAUSE_SECONDS = 0.005
"""Between two events: as far apart as those of a quick mouse."""


class Echo(WebSocketHandler):
    """Says what it hears."""

    def open(self, *_args: str, **_kwargs: str) -> None:
        self.set_nodelay(True)

    def on_message(self, message: str | bytes) -> None:
        self.write_message(message)


async def echo() -> None:
    """Serve the floor on a free port, and print it."""
    server = Application([("/", Echo)], log_function=lambda _: None).listen(0, "127.0.0.1")
    print(next(iter(server._sockets.values())).getsockname()[1], flush=True)
    await asyncio.Event().wait()


@contextmanager
def echoing() -> Iterator[str]:
    """The address of a running floor."""
    command = [sys.executable, "-m", "tests.end_to_end.hand", "--echo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"ws://127.0.0.1:{process.stdout.readline().strip()}/"
        finally:
            process.kill()


def open_websocket(url: str, token: str = "") -> ClientConnection:
    return connect(
        url,
        additional_headers={"Authorization": f"Bearer {token}"} if token else {},
        subprotocols=[Subprotocol(SUBPROTOCOL)] if token else None,
        compression=None,
        proxy=None,
    )


def event(number: int) -> dict[str, Any]:
    """One of the kinds, in turn; each gives the X server one event, what is held in between too."""
    kinds = (
        move(100 + number % 500, 100 + number % 300),
        button(True),
        button(False),
        key("a", True),
        key("a", False),
    )
    return kinds[number % len(kinds)]


def timed(
    count: int, do: Callable[[int], None], after: Callable[[], object] = lambda: None
) -> list[float]:
    """Milliseconds of each of so many, the first ones aside, and without what is done after it."""
    taken = []
    for number in range(count + 20):
        began_at = time.perf_counter()
        do(number)
        taken.append((time.perf_counter() - began_at) * 1000)
        after()
        time.sleep(PAUSE_SECONDS)
    return taken[20:]


def of_the_hand(desk: Workstation, witness: Witness, count: int) -> list[float]:
    """How long events take to the X server."""
    lease = desk.api.call("POST", f"/v1/machines/{desk.machine}/control").json["id"]
    url = desk.url.replace("http:", "ws:") + hand_path(desk.machine, lease)
    with open_websocket(url, desk.api.token) as websocket:
        seen = len(witness.seen())

        def do(number: int) -> None:
            batch = {"sequence": number + 1, "events": [event(number)]}
            websocket.send(json.dumps(batch))
            witness.until_seen(seen + number + 1)

        return timed(count, do, websocket.recv)


def of_the_echo(url: str, count: int) -> list[float]:
    """How long a message takes there and back."""
    with open_websocket(url) as websocket:
        message = json.dumps({"sequence": 1, "events": [event(0)]})

        def do(_number: int) -> None:
            websocket.send(message)
            websocket.recv()

        return timed(count, do)


def row(name: str, taken: list[float]) -> str:
    """The times, for a person."""
    parts = quantiles(taken, n=100)
    return f"{name:44} {median(taken):7.2f} {parts[94]:7.2f} {max(taken):7.2f}"


def main() -> int:
    """Measure, and print it."""
    parser = argparse.ArgumentParser(prog="python -m tests.end_to_end.hand")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--echo", action="store_true")
    arguments = parser.parse_args()
    if arguments.echo:
        asyncio.run(echo())
    with tempfile.TemporaryDirectory() as name, virtual_display() as display, echoing() as floor:
        set_layout(display, "us")
        witness = Witness(display)
        server = ServerProcess(Path(name))
        with server.run():
            api = server.api()
            desk = Workstation.added(server.url, api, display, Path(name))
            with desk.joined():
                hand = of_the_hand(desk, witness, arguments.count)
            api.close()
        witness.close()
        bare = of_the_echo(floor, arguments.count)
    print(f"{'milliseconds':44} {'median':>7} {'95 %':>7} {'most':>7}")
    print(row("an event of a hand, to the X server", hand))
    print(row("the floor: a bare websocket, there and back", bare))
    return 0


if __name__ == "__main__":
    sys.exit(main())
