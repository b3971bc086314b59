"""A real browser before a real server: what the console's tests and pictures stand on."""

import contextlib
import hashlib
import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Page,
    Request,
    Route,
    expect,
    sync_playwright,
)
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from schemas.link.messages import (
    CONNECT_PATH,
    HOST_HEADER,
    JOIN_HEADER,
    SUBPROTOCOL,
    Heartbeat,
    HeartbeatAck,
    Hello,
    Ready,
)
from schemas.link.picture_frames import PictureKind
from tests.desktop import program, virtual_display
from tests.links import MARK
from tests.pictures import frames_of, header
from tests.processes import Program, ServedApi, ServerProcess, joined, running, until

PATIENCE_SECONDS = 60.0
"""For anything on a page: not how fast it must be, but when it certainly will not come."""

SCREEN = "1280x800x24"
_NUMBERS = itertools.count(1)


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium as it is built for programs, without any window: a third of the work.

    Playwright keeps an event loop in this thread until the end, so that nothing else here can run
    one meanwhile: close it with the tests of one file.
    """
    expect.set_options(timeout=PATIENCE_SECONDS * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program("chromium-headless-shell"),
            timeout=60_000,
            args=["--disable-gpu"],
        )
        with closing(browser):
            yield browser


@contextlib.contextmanager
def served(directory: Path, **settings: str) -> Iterator["Site"]:
    """A server of its own, with nothing in it.

    Its heartbeats are as usual: a machine that stands still for a moment has not lost its link.
    """
    server = ServerProcess(directory, **{"token_check": "0.5", **settings})
    with server.run() as process, closing(server.api()) as api:
        yield Site(server, api, process)


@dataclass
class Site:
    """A running server and its API."""

    server: ServerProcess
    api: ServedApi
    process: Program

    @property
    def console(self) -> str:
        """The console's address."""
        return f"{self.server.url}/console/"

    def new_token(self, *scopes: str, name: str = "of a test") -> dict[str, Any]:
        """A token as it is shown when it is made."""
        answer = self.api.call("POST", "/v1/tokens", {"name": name, "scopes": list(scopes)})
        assert answer.status == 201, answer.body
        made: dict[str, Any] = answer.json
        return made

    def add_machine(self, name: str, machine: str = "") -> tuple[str, str]:
        """Add a machine that is called so; its id and its token."""
        machine = machine or f"desk-{next(_NUMBERS)}"
        answer = self.api.call("POST", "/v1/machines", {"id": machine, "name": name})
        assert answer.status == 201, answer.body
        return machine, str(answer.json["token"]["token"])

    @contextlib.contextmanager
    def scripted(self, name: str, greeting: Hello) -> Iterator[str]:
        """A machine that is connected, says this of itself, and does nothing; its id."""
        machine, token = self.add_machine(name)
        with self._linked({"Authorization": f"Bearer {token}"}, greeting):
            yield machine

    def joining(self, code: str, host: str, greeting: Hello) -> AbstractContextManager[None]:
        """The same as a host that comes with a join code and stays."""
        return self._linked(_joining(code, host), greeting)

    @contextlib.contextmanager
    def _linked(self, headers: dict[str, str], greeting: Hello) -> Iterator[None]:
        """A link that answers heartbeats and shows a picture, and nothing else."""
        with connect(
            self.server.url.replace("http:", "ws:") + CONNECT_PATH,
            additional_headers=headers,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            compression=None,
            proxy=None,
        ) as websocket:
            websocket.send(greeting.model_dump_json())
            answering = threading.Thread(target=_answer, args=(websocket,))
            answering.start()
            yield
        answering.join(PATIENCE_SECONDS)

    def invite(self, **wanted: Any) -> dict[str, Any]:
        """An invitation as it is shown when it is made."""
        answer = self.api.call("POST", "/v1/invitations", wanted)
        assert answer.status == 201, answer.body
        made: dict[str, Any] = answer.json
        return made

    def comes(self, code: str, host: str) -> bool:
        """A host that is called so comes with a join code; whether it is let in."""
        headers = _joining(code, host)
        url = self.server.url.replace("http:", "ws:") + CONNECT_PATH
        protocols = [Subprotocol(SUBPROTOCOL)]
        with (
            contextlib.suppress(InvalidStatus),
            connect(url, additional_headers=headers, subprotocols=protocols, proxy=None),
        ):
            return True
        return False

    @contextlib.contextmanager
    def desk(self, name: str = "A desk", machine: str = "") -> Iterator["Desk"]:
        """A machine that is online, with the demo's window on a screen of its own."""
        machine, token = self.add_machine(name, machine)
        directory = self.server.directory / machine
        with contextlib.ExitStack() as stack:
            display = stack.enter_context(virtual_display(SCREEN))
            window = stack.enter_context(
                running(
                    directory / "window.log",
                    {},
                    *("python", "-m", "machine_client.demo.window", "--display", display),
                )
            )
            window.says("open\n")
            join = partial(
                joined, self.server.url, token, directory, display, reconnect_longest="1"
            )
            yield Desk(machine, display, window, stack.enter_context(join()), join)


def _joining(code: str, host: str) -> dict[str, str]:
    """With which a host shows a join code, and what its own token will be."""
    return {
        "Authorization": f"Bearer {code}",
        JOIN_HEADER: hashlib.sha256(f"the token of {host}".encode()).hexdigest(),
        HOST_HEADER: host,
    }


def _answer(websocket: ClientConnection) -> None:
    """Greet, answer heartbeats and show a picture until the websocket is closed."""
    with contextlib.suppress(ConnectionClosed):
        websocket.recv()
        websocket.send(Ready().model_dump_json())
        for sequence, frame in enumerate(websocket, 1):
            message = json.loads(frame)
            if message["type"] == "screenshot":
                for part in frames_of(
                    header(kind=PictureKind.SCREENSHOT, number=message["request"])
                ):
                    websocket.send(part)
            if message["type"] != "heartbeat":
                continue  # Whoever pauses a machine interrupts it: this one does nothing.
            beat = Heartbeat.model_validate_json(frame)
            answer = HeartbeatAck(sequence=beat.sequence, journal_sequence=sequence, mark=MARK)
            websocket.send(answer.model_dump_json())


@dataclass
class Desk:
    """A machine's display, the window on it that tells what arrives, and its client."""

    machine: str
    display: str
    window: Program
    client: Program
    join: Callable[[], AbstractContextManager[Program]]
    """Runs another client in the place of one that has ended."""

    def arrived(self) -> list[str]:
        """What the window has told so far, line by line."""
        return self.window.output.splitlines()[1:]


EXPECTED = re.compile(
    r"Failed to load resource|WebSocket connection to (?!.*Unexpected response code: (?!503))"
)
"""What a browser says of a refused request, or of a server that is not there, or stops."""

TWO_PICTURES = """new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(done)))"""
"""Drawn by the browser: whatever is in sight is known to the page then."""


def have_come(page: Page, requests: Sequence[object], count: int) -> None:
    """Wait until so many requests, or routes, have come of a page."""

    def came() -> bool:
        page.wait_for_timeout(10)  # The browser is heard only meanwhile.
        return len(requests) >= count

    until(came, f"{count} requests have come")


def held_up(page: Page, pattern: str, fits: Callable[[Request], bool]) -> list[Route]:
    """The first of these requests that fits, once it is made; it waits for what the test does."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        if held or not fits(route.request):
            route.fallback()
        else:
            held.append(route)

    page.route(pattern, hold)
    return held


def stop_the_clock(page: Page) -> None:
    """Let time stand still for a page whose clock is installed, a second after now.

    A busy browser may be past that before it hears of it: its clock stands all the same by then.
    """
    while True:
        try:
            page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
        except Error as error:
            if "to the past" not in str(error):
                raise
        else:
            return


@dataclass
class Visit:
    """A page of the browser, and what it complained of."""

    page: Page
    site: Site
    complaints: list[str] = field(default_factory=list)

    @classmethod
    @contextlib.contextmanager
    def begun(cls, browser: Browser, site: Site, **options: Any) -> Iterator["Visit"]:
        """A new visitor, whom the server does not know; fails for errors in the page's scripts."""
        context = browser.new_context(locale="en-GB", **options)
        context.set_default_timeout(PATIENCE_SECONDS * 1000)
        with closing(context):
            visit = cls(context.new_page(), site)
            visit.page.on("pageerror", lambda error: visit.complaints.append(str(error)))
            visit.page.on("console", visit.hear)
            yield visit
            assert visit.complaints == [], visit.complaints

    def hear(self, message: ConsoleMessage) -> None:
        """Keep what the browser says of its own accord, but for what is no mistake."""
        if message.type == "error" and not EXPECTED.search(message.text):
            self.complaints.append(message.text)

    def hears(self, words: str) -> None:
        """Wait until the browser complains of something, which is then no mistake of the page's."""

        def complained() -> bool:
            self.page.wait_for_timeout(10)  # The browser is heard only meanwhile.
            return any(words in complaint for complaint in self.complaints)

        until(complained, f"the browser complains of {words}")
        self.complaints.clear()

    def go(self, place: str = "") -> None:
        """Go to a place of the console such as ``/machines``."""
        self.page.goto(self.site.console + (f"#{place}" if place else ""))

    def go_anew(self, place: str) -> None:
        """Go to a place when nothing of the page before is there to be taken for its own."""
        self.go("/nothing")
        expect(self.page.get_by_role("heading", name="Not found")).to_be_visible()
        self.go(place)

    def sign_in(self, place: str = "/machines", token: str = "") -> None:
        """Sign in as a person does, and go to a place."""
        self.go(place)
        self.page.get_by_label("Token").fill(token or self.site.server.administrators_token())
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_role("button", name="Sign out")).to_be_visible()
