"""act.py MACHINE: opens a terminal, waits until it is there, types, and gets the picture."""

import sys
from pathlib import Path

from farhand import Farhand, actions

with Farhand() as farhand:
    desk = farhand.machine(sys.argv[1])
    desk.actions(
        [
            actions.key("ctrl+alt+t"),
            actions.wait_for(actions.changed()),
            actions.wait_for(actions.still(0.5)),
        ]
    )
    done = desk.actions([actions.type("echo hello\n")], screenshot={"settle": 0.5})
    Path("screen.png").write_bytes(done.screenshot.data)
