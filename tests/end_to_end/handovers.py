"""A person who takes control of a desktop and gives it back, among programs that work it.

``python -m tests.end_to_end.handovers --count 1000 --workers 2`` is the long run.  The programs'
inputs are keys, the left button and moves in the left half; the person's are moves and the right
button in the right half.  So what an X server has seen tells whose it was.
"""

import argparse
import collections
import random
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.desktop import DeviceEvent, Witness, set_layout, virtual_display
from tests.end_to_end.system import Workstation
from tests.held import held_on
from tests.processes import Answer, ServedApi, ServerProcess, until

HALF = 640
PROGRAMS = 3
PERSONS_BUTTON = 3
LONGEST_PAUSE = 0.3
TAKEN_WITHIN = 10.0


@dataclass
class Handovers:
    """What came of them: how often control was given, and every broken promise."""

    given: int = 0
    taken_over: int = 0
    refused: collections.Counter[str] = field(default_factory=collections.Counter)
    programs: collections.Counter[str] = field(default_factory=collections.Counter)
    seconds: list[float] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)

    def table(self) -> str:
        """The counts, for a person."""
        taken = sorted(self.seconds)
        lines = [
            f"control was given            {self.given:8}, {self.taken_over} times over somebody",
            f"seconds until it was         {taken[len(taken) // 2]:8.3f} at the median, "
            f"{taken[-1]:.3f} at most",
            f"not given                    {dict(self.refused)}",
            f"answers to programs          {dict(self.programs)}",
            f"broken promises              {len(self.violations):8}",
        ]
        return "\n".join(lines)


class _Programs:
    """Threads that send inputs of every kind, one after another, whatever is answered."""

    def __init__(self, desk: Workstation, seed: int, answers: collections.Counter[str]) -> None:
        self._desk = desk
        self._answers = answers
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, args=(random.Random(seed + number),))
            for number in range(PROGRAMS)
        ]

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _work(self, chance: random.Random) -> None:
        while not self._stop.is_set():
            operation, body = _any_input(chance)
            key = str(uuid.UUID(int=chance.getrandbits(128))) if chance.random() < 0.7 else None
            answer = self._desk.send(operation, key, **body)
            name = str(answer.status)
            if answer.status >= 400:
                members = answer.json
                name += f" {members.get('reason') or members.get('code') or members['title']}"
            self._answers[name] += 1
            if answer.status in (429, 503):
                self._stop.wait(0.02)


def _any_input(chance: random.Random) -> tuple[str, dict[str, Any]]:
    def place() -> dict[str, Any]:
        return {"x": chance.randrange(HALF), "y": chance.randrange(700)}

    end = {"to_x": chance.randrange(HALF), "to_y": chance.randrange(700)}
    inputs: list[tuple[str, dict[str, Any]]] = [
        ("keyboard/type", {"text": "p" * chance.randint(1, 300)}),
        ("keyboard/key", {"text": "shift", "down": True}),
        ("keyboard/key", {"text": "ctrl+p"}),
        ("mouse/click", {**place(), "button": "left", "down": True}),
        ("mouse/click", {**place(), "button": "left", "clicks": 2}),
        ("mouse/move", place()),
        ("mouse/drag", {"start_x": 1, "start_y": 1, **end, "duration": chance.random() / 2}),
        ("mouse/scroll", {**place(), "direction": "down", "amount": chance.randint(1, 100)}),
    ]
    return chance.choice(inputs)


class _Person:
    """Takes control, works, and gives it back or loses it."""

    def __init__(
        self, api: ServedApi, desk: Workstation, witness: Witness, chance: random.Random
    ) -> None:
        self._api = api
        self._desk = desk
        self._witness = witness
        self._chance = chance
        self._address = f"/v1/machines/{desk.machine}/control"
        self.made = Handovers()

    def once(self) -> None:
        """One handover, from its beginning to its end."""
        lease = self._taken(take_over=False)
        if lease is None:
            return
        self._work(lease)
        if self._chance.random() < 0.2:
            over, lease = lease, self._taken(take_over=True)
            if lease is None:
                return
            self.made.taken_over += 1
            self._must(self._input(over, "mouse/move", x=HALF + 1, y=1).status == 409, "a lease")
            self._must_be_mine(self._witness.take())
        holds = self._chance.random() < 0.5
        if holds:
            held = self._input(lease, "mouse/click", x=HALF + 9, y=9, button="right", down=True)
            self._must(held.status == 200, f"its holder was answered {held.status}")
        # What comes from now on may be of programs again.
        self._must_be_mine(self._witness.take())
        ended = self._api.call("DELETE", f"{self._address}/{lease}")
        self._must(ended.status == 204, f"giving it back was answered {ended.status}")
        if holds:
            released = f"ButtonRelease {PERSONS_BUTTON}"
            until(lambda: released in map(str, self._witness.seen()), "what was held is released")

    def _taken(self, *, take_over: bool) -> str | None:
        began_at = time.monotonic()
        answer = self._api.call("POST", self._address, {"take_over": take_over})
        if answer.status != 201:
            self.made.refused[str(answer.json.get("reason", answer.json["title"]))] += 1
            return None
        self.made.seconds.append(time.monotonic() - began_at)
        self._witness.take()
        held = held_on(self._desk.display)
        self._must(not held.buttons and not held.keycodes, f"{held} when control was given")
        self.made.given += 1
        return str(answer.json["id"])

    def _work(self, lease: str) -> None:
        for _ in range(self._chance.randint(0, 3)):
            place = {"x": HALF + self._chance.randrange(HALF), "y": self._chance.randrange(700)}
            answer = self._input(lease, "mouse/move", **place)
            self._must(answer.status == 200, f"its holder was answered {answer.status}")
            time.sleep(self._chance.random() * LONGEST_PAUSE / 3)

    def _input(self, lease: str, operation: str, **body: Any) -> Answer:
        path = f"/v1/computer/{self._desk.machine}/input/{operation}"
        return self._api.call("POST", path, body, {"Farhand-Control": lease})

    def _must_be_mine(self, events: list[DeviceEvent]) -> None:
        for event in events:
            is_mine = event.x >= HALF and (
                event.kind == "MotionNotify" or event.detail == PERSONS_BUTTON
            )
            self._must(is_mine, f"{event} at {event.x} while a person had control")

    def _must(self, holds: bool, what: str) -> None:
        if not holds:
            self.made.violations.append(what)


def hand_over(
    api: ServedApi,
    desk: Workstation,
    witness: Witness,
    count: int,
    seed: int,
    said: Callable[[str], object] = lambda _: None,
) -> Handovers:
    """Hand control over so many times, among programs that work the same machine."""
    chance = random.Random(seed)
    person = _Person(api, desk, witness, chance)
    made = person.made
    with _Programs(desk, seed, made.programs):
        for number in range(count):
            time.sleep(chance.random() * LONGEST_PAUSE)
            person.once()
            if number % 100 == 99:
                said(f"{number + 1} of {count}, {len(made.violations)} broken promises")
    return made


def main() -> int:
    """Hand over as often as is asked for, and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.end_to_end.handovers")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}, {arguments.workers} nodes", flush=True)
    with tempfile.TemporaryDirectory() as name, virtual_display() as display:
        set_layout(display, "us")
        witness = Witness(display)
        server = ServerProcess(Path(name), workers=str(arguments.workers), heartbeat="1")
        with server.run():
            api = server.api()
            desk = Workstation.added(server.url, api, display, Path(name))
            with desk.joined():
                made = hand_over(api, desk, witness, arguments.count, arguments.seed, print)
            api.close()
        witness.close()
    print(made.table(), *made.violations[:20], sep="\n")
    return 1 if made.violations else 0


if __name__ == "__main__":
    sys.exit(main())
