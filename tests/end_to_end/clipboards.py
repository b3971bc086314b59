"""Texts through the clipboard of a real machine, there and back, and programs that paste and copy.

``python -m tests.end_to_end.clipboards --count 10000`` tries so many random texts: half of them are
written over HTTP, pasted by another program on the desktop and read over HTTP, the others copied by
that program and read over HTTP.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.desktop import virtual_display
from tests.end_to_end.system import System, Workstation
from tests.machine_client.desktop.x11.clipboard.programs import Paster, copied, pasting
from tests.processes import Answer, ServerProcess
from tests.texts import any_text

LONG_EVERY = 100
LONGEST = 250_000


class RemoteClipboard:
    """A machine's clipboard as an HTTP client has it."""

    def __init__(self, desk: Workstation) -> None:
        self._desk = desk
        self.path = f"/v1/computer/{desk.machine}/clipboard"

    def write(self, text: Any, headers: Mapping[str, str] | None = None, **more: Any) -> Answer:
        return self._desk.api.call("PUT", self.path, {"text": text, **more}, headers)

    def read(self, query: str = "") -> Answer:
        return self._desk.api.call("GET", self.path + query)


def round_trips(
    desk: Workstation, count: int, seed: int, said: Callable[[int], None] = lambda _: None
) -> int:
    """Try so many texts; fails at the first that is another.  Returns how many bytes they had."""
    draw, clipboard, total = random.Random(seed), RemoteClipboard(desk), 0
    with pasting(desk.display) as program:
        for number in range(count):
            longest = LONGEST if number % LONG_EVERY == LONG_EVERY - 1 else 400
            text = any_text(draw, longest)
            selection = draw.choice(("clipboard", "primary"))
            total += len(text.encode())
            if number % 2:
                _written(clipboard, program, text, selection, f"{seed}-{number}")
            else:
                with copied(
                    desk.display, {"UTF8_STRING": text.encode()}, selection=selection.upper()
                ):
                    _is_read(clipboard, text, selection)
            said(number + 1)
    return total


def _written(
    clipboard: RemoteClipboard, program: Paster, text: str, selection: str, key: str
) -> None:
    answer = clipboard.write(text, {"Idempotency-Key": key}, selection=selection)
    assert answer.status == 200, answer.body
    pasted = program.paste(selection.upper())
    assert pasted == text.encode(), (text, pasted)
    _is_read(clipboard, text, selection)


def _is_read(clipboard: RemoteClipboard, text: str, selection: str) -> None:
    answer = clipboard.read(f"?selection={selection}")
    assert answer.status == 200, answer.body
    assert answer.json == {"text": text}, (text, answer.json["text"])


def main() -> None:
    """Try as many as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    began_at = time.monotonic()

    def say(done: int) -> None:
        if done % 1000 == 0:
            print(f"{done} exact, {time.monotonic() - began_at:.0f} s", flush=True)

    with tempfile.TemporaryDirectory() as directory, virtual_display() as display:
        server = ServerProcess(Path(directory))
        with System.running(server, display) as system:
            total = round_trips(system.workstation, chosen.count, chosen.seed, say)
    print(f"{chosen.count} random texts, {total} bytes as UTF-8: all exact")


if __name__ == "__main__":
    main()
