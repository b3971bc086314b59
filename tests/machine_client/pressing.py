"""A machine client's injector in a process of its own, to be killed while it presses.

``python -m tests.machine_client.pressing KIND NAME INPUT...`` carries out inputs on a desktop, each
as ``OPERATION BODY``, and then waits for ever.  ``FARHAND_FAILPOINTS`` says where it is killed.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

from machine_client.desktop.choose import choose_desktop
from machine_client.desktop.vnc.address import VncServer, parse_address
from machine_client.system.failpoints import arm_failpoints
from machine_client.work.injector import DesktopInjector
from schemas.inputs.bodies import INPUT_BODIES, AnyInput, Operation
from schemas.programs.failpoints import VARIABLE
from tests.waiting import WAIT_SECONDS

PROJECT = Path(__file__).parents[2]
READY = b"done\n"


def main(kind: str, name: str, *inputs: str) -> None:
    """Carry out the inputs."""
    arm_failpoints(testing=True)
    server = VncServer(*parse_address(name)) if kind == "vnc" else None
    injector = DesktopInjector(choose_desktop(kind, name, server))
    for each in inputs:
        operation, _, body = each.partition(" ")
        injector.prepare(INPUT_BODIES[Operation(operation)].model_validate_json(body))()
    # As bytes: Windows has two for a line's end.
    sys.stdout.buffer.write(READY)
    sys.stdout.flush()
    threading.Event().wait()


def pressing(
    display: str, *bodies: AnyInput, killed_at: int = 0, kind: str = "x11"
) -> "subprocess.Popen[bytes]":
    """Start one that carries these inputs out, and is killed after that many presses, if any."""
    operations = {model: operation for operation, model in INPUT_BODIES.items()}
    inputs = [f"{operations[type(body)]} {body.model_dump_json()}" for body in bodies]
    # X11 is the display that is named, and not the environment's; Windows needs its own to start.
    environment: dict[str, str] = {}
    if sys.platform == "win32":
        environment |= os.environ
    if killed_at:
        environment[VARIABLE] = f"after-press=kill@{killed_at}"
    return subprocess.Popen(
        [sys.executable, "-m", "tests.machine_client.pressing", kind, display, *inputs],
        cwd=PROJECT,
        env=environment,
        stdout=subprocess.PIPE,
    )


def killed_while_pressing(display: str, *bodies: AnyInput, presses: int, kind: str = "x11") -> None:
    """Carry out inputs and be killed right after so many presses."""
    process = pressing(display, *bodies, killed_at=presses, kind=kind)
    said, _ = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, said) == (9 if sys.platform == "win32" else -9, b""), said


def killed_after(display: str, *bodies: AnyInput, kind: str = "x11") -> None:
    """Carry out inputs to their end, and be killed then."""
    process = pressing(display, *bodies, kind=kind)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == READY
    finally:
        process.kill()
        process.communicate(timeout=WAIT_SECONDS)


if __name__ == "__main__":
    main(*sys.argv[1:])
