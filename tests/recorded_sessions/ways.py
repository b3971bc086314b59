"""The ways in which actions come to a machine: by hand in a browser, as inputs, several at once."""

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol
from uuid import uuid4

from playwright.sync_api import Browser, CDPSession, Page

from tests.browser.hands import LEAVING, Hands, Wire
from tests.browser.rig import Site, Visit
from tests.end_to_end.system import Workstation
from tests.recorded_sessions.plan import Doing

MOST_AT_ONCE: Final = 6
CLICK_SECONDS: Final = 0.06
"""From one press of a double click to the next: a hand's is a quick one."""

BROWSERS_KEYS: Final = {
    "enter": "Enter",
    "tab": "Tab",
    "backspace": "Backspace",
    "delete": "Delete",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "home": "Home",
    "end": "End",
    "page_down": "PageDown",
    "page_up": "PageUp",
    "space": "Space",
    "escape": "Escape",
    "shift": "Shift",
    "ctrl": "Control",
}


class Way(Protocol):
    """Carries out what was planned, and returns once all of it was answered."""

    def do(self, doings: Sequence[Doing], numbers: random.Random) -> None: ...


class ByInputs:
    """Each action is a request."""

    def __init__(self, machine: Workstation) -> None:
        self._machine = machine

    def do(self, doings: Sequence[Doing], numbers: random.Random) -> None:
        """One after another."""
        for each in doings:
            time.sleep(each.pause)
            send(self._machine, each.action["operation"], _body(each.action))


class BySeveral:
    """Some actions are one request, their pauses among them."""

    def __init__(self, machine: Workstation) -> None:
        self._machine = machine

    def do(self, doings: Sequence[Doing], numbers: random.Random) -> None:
        """Some of them at once, until all are done."""
        left = [*doings]
        while left:
            some = left[: numbers.randint(1, MOST_AT_ONCE)]
            del left[: len(some)]
            time.sleep(some[0].pause)
            actions: list[dict[str, Any]] = []
            for each in some:
                if actions and each.pause:
                    actions.append({"operation": "wait", "seconds": each.pause})
                actions.append({**each.action})
            answer = self._machine.act(actions, str(uuid4()))
            assert answer.status == 200, answer.body


class ByHand:
    """Each action is what a person does on the picture of the machine, event by event."""

    def __init__(self, machine: Workstation, page: Page) -> None:
        self._machine, self._page = machine, page
        self._hands, self._wire = Hands(page, _Unseen()), Wire(page)
        self._keys: CDPSession = page.context.new_cdp_session(page)

    def do(self, doings: Sequence[Doing], numbers: random.Random) -> None:
        """One after another, as quickly as a quick hand."""
        self._hands.take()
        for each in doings:
            self._page.wait_for_timeout(each.pause * 1000)
            does = getattr(self, "_" + each.action["operation"].partition(".")[2])
            with self._held(each.action.get("modifiers", ())):
                does(each.action)
        self._hands.until(lambda: self._wire.is_answered, "all that was done is answered")
        # The page hears of the last one a moment after the wire.
        self._hands.until(lambda: self._hands.said() == "", "nothing is said of any")
        self._page.keyboard.press(LEAVING)
        self._hands.until(self._is_given_back, "control is given back")

    def _click(self, said: Any) -> None:
        self._move(said)
        for number in range(said.get("clicks", 1)):
            if number:
                self._page.wait_for_timeout(CLICK_SECONDS * 1000)
            self._page.mouse.down(button=said.get("button", "left"))
            self._page.mouse.up(button=said.get("button", "left"))

    def _move(self, said: Any) -> None:
        self._page.mouse.move(*self._hands.over(said["x"], said["y"]), steps=3)

    def _drag(self, said: Any) -> None:
        self._move({"x": said["start_x"], "y": said["start_y"]})
        self._page.mouse.down()
        places = [*said.get("path", ()), {"x": said["to_x"], "y": said["to_y"]}]
        for each in places:
            self._page.wait_for_timeout(said["duration"] * 1000 / len(places))
            self._page.mouse.move(*self._hands.over(each["x"], each["y"]), steps=8)
        self._page.mouse.up()

    def _scroll(self, said: Any) -> None:
        self._move(said)
        for _ in range(said["amount"]):
            self._page.mouse.wheel(0, 100 if said["direction"] == "down" else -100)

    def _type(self, said: Any) -> None:
        for character in said["text"]:
            if character.isascii():
                self._page.keyboard.press({"\t": "Tab"}.get(character, character))
            else:
                # The keyboard of another country, which Playwright knows nothing of.
                for event in ("keyDown", "keyUp"):
                    key = {"type": event, "key": character, "code": "KeyE", "text": character}
                    self._keys.send("Input.dispatchKeyEvent", key)

    def _key(self, said: Any) -> None:
        for chord in said["text"].split(" "):
            names = [BROWSERS_KEYS.get(each, each) for each in chord.split("+")]
            self._page.keyboard.press("+".join(names))

    def _is_given_back(self) -> bool:
        return self._machine.api.machine(self._machine.machine)["control"] is None

    @contextmanager
    def _held(self, modifiers: Sequence[str]) -> Iterator[None]:
        for each in modifiers:
            self._page.keyboard.down(BROWSERS_KEYS[each])
        yield
        for each in reversed(modifiers):
            self._page.keyboard.up(BROWSERS_KEYS[each])


def send(machine: Workstation, operation: str, body: dict[str, Any]) -> None:
    """Send one input, which has to be completed."""
    answer = machine.send(operation.replace(".", "/"), str(uuid4()), **body)
    assert answer.status == 200, f"{operation} {body}: {answer.body!r}"


@contextmanager
def hand_on(browser: Browser, site: Site, machine: Workstation) -> Iterator[ByHand]:
    """A person who has a machine before them in a browser."""
    with Visit.begun(browser, site, viewport={"width": 1500, "height": 1000}) as visit:
        hand = ByHand(machine, visit.page)
        visit.sign_in(f"/machines/{machine.machine}")
        yield hand


class _Unseen:
    """What arrives is in the programs, each of which tells it in its own way."""

    def arrived(self) -> list[str]:
        return []


def _body(action: Any) -> dict[str, Any]:
    return {name: value for name, value in action.items() if name != "operation"}
