"""The floors, each as a program: what cannot be had for less with the same libraries."""

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

import websockets
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

CHUNK = b"x" * 65536


class BarePost(RequestHandler):
    """A POST that does nothing but answer."""

    def post(self) -> None:
        self.finish({"status": "completed"})


class BareResult(RequestHandler):
    """An input's answer, without the input."""

    def post(self) -> None:
        self.finish(
            {
                "command_id": "0b1f3c5e-0000-4000-8000-000000000001",
                "machine_id": "bench",
                "operation": "mouse.click",
                "status": "completed",
                "accepted_at": "2026-11-21T09:30:00.120Z",
                "completed_at": "2026-11-21T09:30:00.124Z",
                "duration_ms": 0.4,
                "pointer": {"x": 640, "y": 360},
            }
        )


class BareBytes(RequestHandler):
    """Writes so many bytes, and waits whenever the reader is slower."""

    async def get(self) -> None:
        left = int(self.get_query_argument("size"))
        while left:
            chunk = min(left, len(CHUNK))
            self.write(CHUNK[:chunk])
            await self.flush()
            left -= chunk


class BareTunnel(RequestHandler):
    """Hands the body to the websocket client, and its answer back; checks nothing."""

    async def post(self) -> None:
        number = BareLink.sent
        BareLink.sent += 1
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        BareLink.waiting[number] = future
        BareLink.link.write_message(
            json.dumps({"id": number, "body": json.loads(self.request.body)})
        )
        self.finish(await future)


class BareLink(WebSocketHandler):
    """The one websocket of the tunnel."""

    link: "BareLink"
    waiting: dict[int, "asyncio.Future[Any]"] = {}  # noqa: RUF012 - one link, one process
    sent = 0

    def open(self, *_args: str, **_kwargs: str) -> None:
        self.set_nodelay(True)
        BareLink.link = self

    def on_message(self, message: str | bytes) -> None:
        answer = json.loads(message)
        BareLink.waiting.pop(answer["id"]).set_result(answer)


async def serve() -> None:
    """Serve both floors on a free port, and print it."""
    application = Application(
        [
            ("/post", BarePost),
            ("/v1/computer/bench/input/mouse/click", BareResult),
            ("/bytes", BareBytes),
            ("/tunnel", BareTunnel),
            ("/link", BareLink),
        ],
        log_function=lambda _: None,
    )
    server = application.listen(0, "127.0.0.1")
    print(next(iter(server._sockets.values())).getsockname()[1], flush=True)  # noqa: SLF001
    await asyncio.Event().wait()


async def answer(port: str, carry_out: Callable[[Any], None]) -> None:
    """Be the tunnel's far end: carry out whatever comes, and answer it."""
    async with websockets.connect(f"ws://127.0.0.1:{port}/link", compression=None) as link:
        print("connected", flush=True)
        async for message in link:
            command = json.loads(message)
            carry_out(command["body"])
            await link.send(json.dumps({"id": command["id"], "status": "completed"}))


def clicking() -> Callable[[Any], None]:
    """Clicks by pynput on the display of the environment."""
    # It looks for its display when it is imported.
    from pynput.mouse import Button, Controller  # noqa: PLC0415

    mouse = Controller()

    def click(body: Any) -> None:
        mouse.position = body["x"], body["y"]
        mouse.click(Button.left)

    return click


def main() -> None:
    """Be what the arguments name: ``serve``, or a far end that is to ``answer`` or to ``click``."""
    match sys.argv[1:]:
        case ["serve"]:
            asyncio.run(serve())
        case ["answer", port]:
            asyncio.run(answer(port, lambda _: None))
        case ["click", port]:
            asyncio.run(answer(port, clicking()))


if __name__ == "__main__":
    main()
