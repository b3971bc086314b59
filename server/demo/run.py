"""Runs the demo from its first child to its last word."""

import shlex
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from farhand import Farhand, FarhandError
from farhand.types import RunWithSteps
from server.data_directory import ADMIN_TOKEN_FILE
from server.demo import DemoError, Interrupted, orders, parts
from server.demo.children import Child, Children
from server.demo.library import RECORDED, show_recording, show_trajectories
from server.demo.repeat import Repeat
from server.demo.tour import show_inputs, show_witness, show_word

WATCH_SECONDS = 0.2


@dataclass(frozen=True)
class Wanted:
    """What is shown: with so many ``workers``, and ``once`` without staying."""

    workers: int
    once: bool
    has_run: bool


def run_demo(console: Console, data_directory: Path, wanted: Wanted) -> None:
    """Start everything, take the tour, and stay until interrupted, or not.

    The children have ended when this returns or raises; DemoError says what failed.
    """
    try:
        _run(console, data_directory, wanted)
    except FarhandError as error:
        raise DemoError(str(error)) from None


def _run(console: Console, data_directory: Path, wanted: Wanted) -> None:
    xvfb = parts.check_installed()
    data_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    begun = time.monotonic()
    console.print(Text("Farhand demo", "bold"))
    with Children(data_directory / "logs") as children:
        started = parts.start_server(children, data_directory, wanted.workers)
        display = parts.start_display(children, xvfb)
        window = parts.start_window(children, display)
        _part(console, "virtual desktop", f"Xvfb {display}, {parts.SCREEN}")
        server, address, farhand = parts.until_served(
            children, started, data_directory, wanted.workers
        )
        stands_on = parts.stands_on(wanted.workers)
        _part(console, "server", f"{address}{_other_port(address)}, {stands_on}")
        token_file = parts.add_machine(farhand, data_directory)
        state = data_directory / "machine"
        machine = parts.start_machine(children, address, token_file, display, state)
        parts.wait_for_window(children, window)
        parts.wait_for_machine(children, machine, farhand)
        took = time.monotonic() - begun
        _part(console, "machine", f"{parts.MACHINE_ID}, connected {took:.1f} s after the start")
        console.print()
        _take_tour(console, children, window, farhand)
        repeat, halted = None, None
        if wanted.has_run:
            repeat = _start_repeat(console, children, server, (xvfb, address, data_directory))
        if repeat is not None:
            halted = repeat.halted(repeat.recorded())
        if wanted.once:
            if repeat is not None and halted is not None:
                repeat.helped(halted)
                if why := repeat.why_not_right(repeat.until_end(halted)):
                    raise DemoError(f"the run was to end right: {why}")
                console.print()
            _part(console, "all went well", f"in {time.monotonic() - begun:.1f} s")
            return
        console.print()
        _show_addresses(console, address, data_directory, display)
        _show_console(console, parts.sign_in_link(address, farhand), halted)
        _stay(children, repeat, halted)


def _take_tour(console: Console, children: Children, window: Child, farhand: Farhand) -> None:
    desk = farhand.machine(parts.MACHINE_ID)
    show_inputs(console, desk)
    with desk.record(name=RECORDED) as recording:
        drags = show_word(console, desk)
    show_witness(console, children, window, drags)
    console.print()
    show_trajectories(console, farhand)
    show_recording(console, farhand, recording.trajectory_id, drags)
    console.print()


def _start_repeat(
    console: Console, children: Children, server: Child, where: tuple[str, str, Path]
) -> Repeat | None:
    """What a run needs; None, and a line that says why, where Debian's packages are missing."""
    console.print(Text("A run", "bold"))
    if packages := orders.missing():
        said = f"left out: it needs apt-get install {' '.join(packages)}"
        console.print(Text(f"  {said}", "yellow"), soft_wrap=True)
        console.print()
        return None
    xvfb, address, directory = where
    # It goes on where the node is killed that is asked.
    farhand = Farhand(address, parts.admin_token(directory), trust_env=False)
    made = farhand.tokens.create("reviewer of the demo", role="operator")
    reviewer = Farhand(address, made.token, trust_env=False)
    desk = orders.OrderDesk.started(children, xvfb, farhand, address, directory)
    return Repeat(console, children, server, farhand, reviewer, desk)


def _stay(children: Children, repeat: Repeat | None, halted: RunWithSteps | None) -> None:
    """Watch the children until somebody asks for the end, which is no failure any more.

    A run that waits for a person goes on to its end meanwhile, once they have helped.
    """
    try:
        while True:
            children.check()
            if repeat is not None and halted is not None and repeat.is_helped(halted):
                found = repeat.until_end(halted)
                halted = found if found.halted is not None else None
            time.sleep(WATCH_SECONDS)
    except Interrupted:
        return


def _part(console: Console, name: str, what: str) -> None:
    line = Text.assemble(("✓ ", "green"), f"{name:<18}", (what, "dim"))
    console.print(line, soft_wrap=True)


def _other_port(address: str) -> str:
    usual = f":{parts.USUAL_PORT}"
    return "" if address.endswith(usual) else f" ({usual[1:]} is taken)"


def _show_addresses(console: Console, address: str, data_directory: Path, display: str) -> None:
    token_file = data_directory / ADMIN_TOKEN_FILE
    shown = {
        "Server": address,
        "API": f"{address}/docs",
        "Token": str(token_file),
        "Desktop": f"display {display}; a picture of it: DISPLAY={display} {_mss()} -o demo.png",
        "Data, logs": str(data_directory),
    }
    for name, what in shown.items():
        console.print(Text.assemble((f"{name:<12}", "bold"), what), soft_wrap=True)
    console.print()
    console.print(Text("Draw a line yourself:", "bold"))
    console.print(Text(curl_line(address, token_file)), soft_wrap=True)
    console.print()
    console.print(Text("Ask the command line how the machine is:", "bold"))
    for line in command_lines(Path(sys.executable).parent, data_directory):
        console.print(Text(line), soft_wrap=True)


def _show_console(console: Console, link: str, halted: RunWithSteps | None) -> None:
    """Last, so that it is what one sees."""
    console.print()
    console.print(Text("Look at the desktop and work on it, in a browser:", "bold"))
    console.print(Text(link, "cyan"), soft_wrap=True)
    console.print()
    if halted is not None:
        console.print(
            Text("The run waits for you: there, open Runs and the one that is halted.", "bold")
        )
        console.print("Press Point at it, click on the field Your reference, press Do it here.")
        console.print(Text("Then its node is killed, and you see it go on to its end.", "dim"))
        console.print()
    console.print(Text("Ctrl-C ends everything.", "dim"))


def _mss() -> str:
    """The program that takes a screenshot, which comes with the machine client's packages."""
    beside = Path(sys.executable).with_name("mss")
    return shlex.quote(str(beside)) if beside.exists() else "mss"


def curl_line(address: str, token_file: Path) -> str:
    """A command that sends a drag, to be pasted into a shell."""
    body = '{"start_x": 110, "start_y": 700, "to_x": 790, "to_y": 660}'
    url = f"{address}/v1/computer/{parts.MACHINE_ID}/input/mouse/drag"
    # $( ) begins a quoting of its own, so the double quotes around it do not matter.
    quoted = shlex.quote(str(token_file))
    return (
        f'curl -H "Authorization: Bearer $(cat {quoted})" '
        f"-H 'Content-Type: application/json' -d {shlex.quote(body)} {url}"
    )


def command_lines(scripts: Path, data_directory: Path) -> list[str]:
    """What to paste into a shell to use the commands in ``scripts`` on the demo's server.

    A shell that finds them already is told no path.
    """
    found = shutil.which("farhand")
    is_found = found is not None and Path(found).resolve() == (scripts / "farhand").resolve()
    path = [] if is_found else [f'export PATH={shlex.quote(str(scripts))}:"$PATH"']
    show = f"farhand machine show {parts.MACHINE_ID} --data-dir {shlex.quote(str(data_directory))}"
    return [*path, show]
