"""The floor: bare Tornado websockets, and heartbeats on them.

``python -m benchmarks.fleet.floor SECONDS`` serves until it is ended, and prints its port.  Each
websocket is sent a heartbeat every so many seconds; the answers are read, and nothing is done.
"""

import asyncio
import json
import sys
import time
from collections import deque

import uvloop
from tornado.web import Application
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from schemas.link.messages import CONNECT_PATH, SUBPROTOCOL

STEP_SECONDS = 0.1


class BareMachine(WebSocketHandler):
    """One websocket; all of them wait for their next heartbeat in one queue."""

    waiting: "deque[tuple[float, BareMachine]]" = deque()  # noqa: RUF012 - one process

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        return SUBPROTOCOL

    def open(self, *_args: str, **_kwargs: str) -> None:
        self.set_nodelay(True)
        self.sequence = 0
        self.beat()

    def on_message(self, message: str | bytes) -> None:
        pass

    def beat(self) -> None:
        """Send a heartbeat, and wait for the time of the next."""
        self.sequence += 1
        heartbeat = {"type": "heartbeat", "sequence": self.sequence, "server_time": time.time()}
        try:
            self.write_message(json.dumps(heartbeat))
        except WebSocketClosedError:
            return
        self.waiting.append((time.monotonic(), self))


async def serve(seconds: float) -> None:
    """Serve on a free port, and print it."""
    application = Application([(CONNECT_PATH, BareMachine)], log_function=lambda _: None)
    server = application.listen(0, "127.0.0.1", backlog=1024)
    print(next(iter(server._sockets.values())).getsockname()[1], flush=True)  # noqa: SLF001
    waiting = BareMachine.waiting
    while True:
        due = time.monotonic() - seconds
        while waiting and waiting[0][0] <= due:
            waiting.popleft()[1].beat()
        await asyncio.sleep(STEP_SECONDS)


if __name__ == "__main__":
    uvloop.run(serve(float(sys.argv[1])))
