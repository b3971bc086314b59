"""A witness that is a program of its own: questions are lines of JSON, and so are the answers."""

import json
import subprocess
from typing import Any

from tests.machine_client.desktop.contract.rig import Seen
from tests.waiting import WAIT_SECONDS


class WitnessProgram:
    """What every one of them is asked; see `tests.machine_client.desktop.contract.rig.Witness`.

    ``program`` was just started, with pipes, and says that it is ready.
    """

    def __init__(self, program: "subprocess.Popen[bytes]") -> None:
        self._program = program
        assert self._read() == "ready"

    def take(self) -> list[Seen]:
        return [_seen(event) for event in self.ask("take")]

    def seen(self) -> list[Seen]:
        return [_seen(event) for event in self.ask("seen")]

    def held(self) -> frozenset[str]:
        return frozenset(self.ask("held"))

    def pointer(self) -> tuple[int, int]:
        x, y = self.ask("pointer")
        return x, y

    def close(self) -> None:
        self._program.communicate(timeout=WAIT_SECONDS)

    def ask(self, *question: Any) -> Any:
        """What the witness says to a question of its own."""
        assert self._program.stdin is not None
        self._program.stdin.write(json.dumps(question).encode() + b"\n")
        self._program.stdin.flush()
        return self._read()

    def _read(self) -> Any:
        assert self._program.stdout is not None
        line = self._program.stdout.readline()
        assert line, "the witness has ended"
        return json.loads(line)


def _seen(event: dict[str, Any]) -> Seen:
    return Seen(**{**event, "names": frozenset(event["names"])})
