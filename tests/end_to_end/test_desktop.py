"""A desktop that ends, hangs, is grabbed, resized and comes back, through real processes."""

import asyncio
import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.desktop import (
    UnsteadyDisplay,
    Witness,
    grabbed,
    resize_screen,
    unsteady_display,
)
from tests.end_to_end.system import Workstation, presses
from tests.end_to_end.test_recorded_crashes import begun, clicked, stopped
from tests.pictures import PictureStream
from tests.processes import WAIT_SECONDS, Program, ServedApi, ServerProcess, until
from tests.store import async_test

OFTEN: dict[str, Any] = {"desktop_check": "0.2"}
"""For the client to look more often than it does by itself."""


@pytest.fixture
def screen() -> Iterator[UnsteadyDisplay]:
    """An X server of the test's own."""
    with unsteady_display() as display:
        yield display


@pytest.fixture
def desk(
    shared_server: ServerProcess, api: ServedApi, screen: UnsteadyDisplay, tmp_path: Path
) -> Workstation:
    """A machine on that X server."""
    return Workstation.added(shared_server.url, api, screen.name, tmp_path)


def is_seen(desk: Workstation) -> bool:
    """Whether a picture of the screen can be had."""
    path = f"/v1/computer/{desk.machine}/display/screenshot?width=100"
    return desk.api.call("GET", path).status == 200


def key(desk: Workstation) -> str:
    """The key of a click that is refused and then sent again."""
    return f"click-on-{desk.machine}"


def pointer(desk: Workstation) -> Any:
    """Where the pointer is."""
    return desk.api.call("GET", f"/v1/computer/{desk.machine}/input/mouse/position").json


def refused_at_once(desk: Workstation) -> Any:
    """What an input gets that no desktop can take; its key is not used."""
    answer = desk.send("mouse/click", key(desk), x=10, y=10)
    assert (answer.status, answer.json["reason"]) == (503, "no_input"), answer.body
    view = desk.api.machine(desk.machine)
    assert answer.json["since"] == view["since"]
    return view


def works(desk: Workstation, client: Program) -> None:
    """Inputs and the screen are there, on the link that has been there all the time."""
    desk.is_in_state("online")
    until(lambda: is_seen(desk), "the screen is seen")
    answer = desk.send("mouse/click", key(desk), x=10, y=10)
    assert answer.status == 200, answer.body
    assert "Idempotency-Replayed" not in answer.headers
    assert client.output.count("connected to") == 1
    assert "Traceback" not in client.output


class Listener:
    """Hears what the server tells of one machine."""

    def __init__(self, desk: Workstation) -> None:
        address = urlsplit(desk.url)
        self.states: list[tuple[str, bool]] = []
        self._desk = desk
        self._name = desk.machine
        self._socket = socket.create_connection((address.hostname, address.port))
        # By HTTP/1.0, so that what comes is the stream and nothing else.
        self._socket.sendall(
            f"GET /v1/events?types=machine&machine_id={desk.machine} HTTP/1.0\r\n"
            f"Authorization: Bearer {desk.api.token}\r\n\r\n".encode()
        )
        self._stream = self._socket.makefile("rb")
        while self._stream.readline().strip():
            pass
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        for line in self._stream:
            if line.startswith(b"data:"):
                view = json.loads(line[5:])
                self.states.append((view["state"], view["screen"]["available"]))
                self._name = view["name"]

    def begins_after(self, state: tuple[str, bool]) -> None:
        """Wait until this was told last, and forget all until then."""
        until(lambda: self.states[-1:] == [state], f"{state} is told")
        # Each step of a connection is told by how the machine is then: the same may come again.
        named = self._desk.api.call(
            "PATCH", f"/v1/machines/{self._desk.machine}", {"name": "begun"}
        )
        assert named.status == 200, named.body
        until(lambda: self._name == "begun", "what came before is told")
        self.states.clear()

    def hears(self, *expected: tuple[str, bool]) -> None:
        """Wait until this is what was told."""
        until(lambda: self.states == [*expected], f"{expected} is told")

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(WAIT_SECONDS)
        self._stream.close()
        self._socket.close()


@contextmanager
def listening(desk: Workstation) -> Iterator[Listener]:
    with closing(Listener(desk)) as listener:
        yield listener


def test_display_that_is_killed_is_known_without_an_input_and_so_is_its_return(
    desk: Workstation, screen: UnsteadyDisplay
) -> None:
    with listening(desk) as listener, desk.joined() as client:
        listener.begins_after(("online", True))
        online = desk.api.machine(desk.machine)
        screen.kill()
        desk.is_in_state("no_input")
        gone = refused_at_once(desk)
        assert screen.name in gone["reason"]
        assert gone["since"] > online["since"]
        assert (gone["displays"], gone["screen"]["available"]) == ([], False)
        screen.start()
        works(desk, client)
        assert desk.api.machine(desk.machine)["since"] > gone["since"]
        listener.hears(("no_input", False), ("online", True))
        assert len(re.findall("no input is possible", client.output)) == 1
        assert client.terminate() == 0


def test_display_that_hangs_is_known_and_so_is_that_it_goes_on(
    desk: Workstation, screen: UnsteadyDisplay
) -> None:
    with desk.joined(**OFTEN) as client:
        screen.freeze()
        desk.is_in_state("no_input")
        assert "has not answered" in refused_at_once(desk)["reason"]
        screen.thaw()
        works(desk, client)


def test_display_that_hangs_at_the_start_is_told_and_found_when_it_goes_on(
    desk: Workstation, screen: UnsteadyDisplay
) -> None:
    screen.freeze()
    with desk.joined(state="no_input", **OFTEN) as client:
        assert "has not answered" in refused_at_once(desk)["reason"]
        screen.thaw()
        works(desk, client)


def test_grabbed_display_takes_input_and_its_screen_is_in_trouble(
    desk: Workstation, screen: UnsteadyDisplay
) -> None:
    with desk.joined(**OFTEN) as client:
        with grabbed(screen.name):
            until(
                lambda: "screen cannot be seen" in desk.api.machine(desk.machine)["reason"],
                "the screen is in trouble",
            )
            assert desk.api.machine(desk.machine)["state"] == "online"
            assert not is_seen(desk)
            assert desk.send("mouse/click", x=10, y=10).status == 200
        until(
            lambda: desk.api.machine(desk.machine)["reason"] == "connected",
            "the screen is out of trouble",
        )
        works(desk, client)


def test_display_of_another_size_is_shown_and_takes_no_place_outside_it(
    desk: Workstation, screen: UnsteadyDisplay
) -> None:
    with desk.joined(**OFTEN):
        recording = begun(desk)
        clicked(desk, 900)
        resize_screen(screen.name, 800, 600)
        until(
            lambda: [each["width"] for each in desk.api.machine(desk.machine)["displays"]] == [800],
            "the new size is shown",
        )
        assert desk.send("mouse/move", x=900, y=100).status == 422
        assert desk.send("mouse/move", x=799, y=599).status == 200
        clicked(desk, 700)
        *steps, resized, moved, after = stopped(desk, recording)
        assert [step["body"]["x"] for step in (*steps, moved, after)] == [900, 799, 700]
        words = "The desktop has another size from here on: 800 x 600."
        assert resized["body"] == {"reason": words}


def test_long_drag_is_no_trouble_and_one_whose_display_ends_has_failed(
    desk: Workstation, screen: UnsteadyDisplay
) -> None:
    drag: dict[str, Any] = {"start_x": 0, "start_y": 0, "to_x": 1000, "to_y": 0}
    with listening(desk) as listener, desk.joined(**OFTEN) as client:
        listener.begins_after(("online", True))
        assert desk.send("mouse/drag", **drag, duration=5).status == 200
        assert listener.states == []
        asked = desk.begin("mouse/drag", "cut-short", **drag, duration=30)
        until(lambda: 0 < pointer(desk)["x"] < 1000, "the pointer travels")
        screen.kill()
        failed = asked.result()
        assert failed.status == 502, failed.body
        assert failed.json["code"] == "display_lost"
        assert failed.json["injected_at_least"] > 0
        desk.is_in_state("no_input")
        screen.start()
        works(desk, client)


def test_held_button_of_a_display_that_ended_does_not_hold_the_next(
    desk: Workstation, screen: UnsteadyDisplay
) -> None:
    with desk.joined(**OFTEN):
        assert desk.send("mouse/click", x=10, y=10, down=True).status == 200
        screen.kill()
        desk.is_in_state("no_input")
        screen.start()
        desk.is_in_state("online")
        witness = Witness(screen.name)
        assert desk.send("mouse/click", x=10, y=10).status == 200
        assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]
        witness.close()


def test_live_screen_ends_with_its_display_and_can_be_watched_again(
    desk: Workstation, screen: UnsteadyDisplay
) -> None:
    path = f"/v1/computer/{desk.machine}/display/stream"

    async def watch() -> PictureStream:
        return await PictureStream.open(desk.url, path, desk.api.token)

    def wait_for_screen() -> None:
        until(lambda: is_seen(desk), "the screen is seen")

    async def watched() -> None:
        async with asyncio.timeout(WAIT_SECONDS):
            async with await watch() as stream:
                assert stream.status == 200
                assert await stream.part() is not None
                screen.freeze()
                await stream.ended()
            screen.thaw()
            await asyncio.to_thread(wait_for_screen)
            async with await watch() as again:
                assert again.status == 200
                assert await again.part() is not None

    with desk.joined(**OFTEN):
        wait_for_screen()
        async_test(watched)()
