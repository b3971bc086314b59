"""A program as people write them: does each step of a list in one session, and says how it ended.

``python session_program.py MACHINE NAME FILE STEPS TOLD``: each step in the file ``STEPS`` is a
list of actions.  What is told of it is added to the file ``TOLD``, before the next is sent.
"""

import json
import sys
from pathlib import Path
from typing import Any

from farhand import Farhand, InputFailed, NoAnswer, OutcomeUnknown, SessionFinished
from farhand.types import ActionsResult

DONE, FINISHED_BEFORE, NO_ANSWER = 0, 4, 5
"""Its exit codes, beside those of Python."""


def main() -> int:
    """Do all of it; the exit code."""
    machine_id, name, file, steps, told = sys.argv[1:]
    with (
        Farhand() as farhand,
        farhand.session(name, file=file) as session,
        Path(told).open("a", buffering=1) as notes,
    ):
        machine = session.machine(machine_id)
        for number, actions in enumerate(json.loads(Path(steps).read_text())):
            note = {"step": number, **_ended(machine, actions)}
            notes.write(json.dumps(note) + "\n")
    return DONE


def _ended(machine: Any, actions: list[dict[str, Any]]) -> dict[str, Any]:
    """How a step ended: in a word, and for each of its actions where that is known."""
    try:
        done = machine.do(actions[0]) if len(actions) == 1 else machine.actions(actions)
    except (InputFailed, OutcomeUnknown) as error:
        # Somebody has looked at the screen, and wants the rest.
        ends = None if error.actions is None else [each["status"] for each in error.actions]
        return {"told": error.name, "actions": ends, "replayed": False}
    ends = [each.status for each in done.actions] if isinstance(done, ActionsResult) else None
    return {"told": done.status, "actions": ends, "replayed": done.replayed}


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SessionFinished:
        sys.exit(FINISHED_BEFORE)
    except NoAnswer as failure:
        print(failure, file=sys.stderr)
        sys.exit(NO_ANSWER)
