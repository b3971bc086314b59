"""``python -m benchmarks.desktops``: an input's whole way, on each kind of desktop.

One server, and three machines that have joined it at the same time: on Xvfb, on a sway without a
screen, and on Xvnc, each 1280 x 800.  The same inputs go to each of them in turn, round after
round, over HTTP, without and with an Idempotency-Key, so that whatever else the machine does falls
on all of them alike.  The floor is a GET that this server answers by itself.
"""

import argparse
import asyncio
import os
import platform
import shutil
import signal
import socket
import statistics
import sys
import tempfile
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import product
from pathlib import Path

from benchmarks.load import Request, ask_alone
from benchmarks.subjects import Api, farhand, joined, mongodb, process, until, x_server, xvfb

NOBODY = 65534
"""Whose rights sway gets where we have those of root, which it refuses."""

SWAY = """
output HEADLESS-1 resolution 1280x800 position 0 0 scale 1
xwayland disable
seat seat0 fallback true
swaybg_command -
"""

INPUTS = {
    "move": ("mouse/move", b'{"x":12,"y":34}'),
    "click": ("mouse/click", b'{"x":56,"y":78}'),
    "key": ("keyboard/key", b'{"text":"ctrl+a"}'),
    "scroll": ("mouse/scroll", b'{"direction":"down","amount":1}'),
    "text of 20": ("keyboard/type", b'{"text":"Twenty characters, 1"}'),
    "short drag": ("mouse/drag", b'{"start_x":10,"start_y":10,"to_x":90,"to_y":50}'),
}
"""What is asked of every machine: its path and its body."""

BASE = "x11"
MOST_RATIO = 1.5

Case = tuple[str, str, bool]
"""A desktop, an input, and whether it has a key."""


@asynccontextmanager
async def sway(directory: Path) -> AsyncIterator[tuple[str, ...]]:
    """A compositor; yields what a machine client must be told of it."""
    runtime = _prepare(directory)
    command = ["sway", "--config", str(runtime / "config")]
    if os.getuid() == 0:
        ids = ("--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups")
        command = ["setpriv", *ids, *command]
    headless = {
        "PATH": os.environ["PATH"],
        "HOME": str(runtime),
        "XDG_RUNTIME_DIR": str(runtime),
        "WLR_BACKENDS": "headless",
        "WLR_RENDERER": "pixman",
        "WLR_LIBINPUT_NO_DEVICES": "1",
    }
    compositor = await asyncio.create_subprocess_exec(
        *command, env=headless, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
    )
    try:
        display = runtime / "wayland-1"
        await until(display.exists)
        yield "--desktop", "wayland", "--display", str(display)
    finally:
        os.killpg(compositor.pid, signal.SIGTERM)
        await compositor.wait()


def _prepare(directory: Path) -> Path:
    """Where sway can read and write as whoever it is."""
    runtime = directory / "sway-session"
    runtime.mkdir()
    (runtime / "config").write_text(SWAY)
    if os.getuid() == 0:
        directory.chmod(0o755)
        shutil.chown(runtime, NOBODY, NOBODY)
    return runtime


@asynccontextmanager
async def xvnc() -> AsyncIterator[tuple[str, ...]]:
    """A VNC server; yields what a machine client must be told of it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    size = ("-geometry", "1280x800", "-depth", "24")
    async with x_server("Xvnc", "-rfbport", port, "-localhost", *size, "-SecurityTypes", "None"):
        yield "--vnc", f"127.0.0.1:{port}"


async def join(stack: AsyncExitStack, api: Api, directory: Path, name: str, *on: str) -> None:
    """Have a machine of this name join from its desktop, until the stack is left."""
    state = directory / name
    state.mkdir()
    added = await asyncio.to_thread(api.post, "/v1/machines", {"id": name})
    token_file = state / "token"
    token_file.write_text(added["token"]["token"])
    client = process(
        *(sys.executable, "-m", "machine_client", "join", "--server", api.url),
        *("--token-file", str(token_file), "--state-dir", str(state), *on),
    )
    await stack.enter_async_context(client)
    await joined(api, name)


async def measure(
    api: Api, names: tuple[str, ...], rounds: int, times: int
) -> tuple[dict[Case, list[float]], list[float]]:
    """How long each input took on each desktop, and the floor; in seconds."""
    requests = {
        (name, input_, keyed): api.input(*INPUTS[input_], keyed=keyed, machine=name)
        for input_, keyed, name in product(INPUTS, (False, True), names)
    }
    floor = Request(f"{api.url}/healthz", b"", api.token, method="GET")
    seconds: dict[Case, list[float]] = {case: [] for case in requests}
    floors: list[float] = []
    for request in requests.values():
        await ask_alone(request, 3)
    for number in range(rounds):
        floors += (await ask_alone(floor, times)).seconds
        # Each desktop is the first after the floor as often as the others.
        cases = sorted(requests, key=lambda case: _turn(case, names, number))
        for case in cases:
            seconds[case] += (await ask_alone(requests[case], times)).seconds
    return seconds, floors


def _turn(case: Case, names: tuple[str, ...], number: int) -> tuple[int, bool, int]:
    name, input_, keyed = case
    return list(INPUTS).index(input_), keyed, (names.index(name) + number) % len(names)


def median_ms(seconds: list[float]) -> float:
    """The median in milliseconds."""
    return statistics.median(seconds) * 1000


def p95_ms(seconds: list[float]) -> float:
    """What one in twenty takes longer than, in milliseconds."""
    return sorted(seconds)[int(len(seconds) * 0.95)] * 1000


def table(seconds: Mapping[Case, list[float]], floors: list[float], names: tuple[str, ...]) -> str:
    """All figures as a table: median, 95 %, and how many times X11's median that is."""
    lines = [
        f"{'':26}" + "".join(f"{name + ', ms':>14}{'95 %':>9}{'/ ' + BASE:>8}" for name in names)
    ]
    for keyed, input_ in product((False, True), INPUTS):
        base = median_ms(seconds[BASE, input_, keyed])
        row = f"{input_ + (', with a key' if keyed else ''):26}"
        for name in names:
            each = seconds[name, input_, keyed]
            row += f"{median_ms(each):14.2f}{p95_ms(each):9.2f}{median_ms(each) / base:8.2f}"
        lines.append(row)
    lines.append(f"{'the floor: a GET':26}{median_ms(floors):14.2f}{p95_ms(floors):9.2f}")
    return "\n".join(lines)


def verdicts(seconds: Mapping[Case, list[float]], names: tuple[str, ...]) -> str:
    """The figures against the bound that the project has set itself."""
    rows = []
    for name, keyed in product(names, (False, True)):
        if name == BASE:
            continue
        ratios = {
            input_: median_ms(seconds[name, input_, keyed])
            / median_ms(seconds[BASE, input_, keyed])
            for input_ in INPUTS
        }
        worst = max(ratios, key=lambda input_: ratios[input_])
        what = f"{name} / {BASE}, {'with a key' if keyed else 'without a key'}"
        rows.append((f"{what}, median of inputs", statistics.median(ratios.values())))
        rows.append((f"{what}, the worst: {worst}", ratios[worst]))
    return "\n".join(f"{name:56}{value:8.2f}   at most {MOST_RATIO}" for name, value in rows)


def load() -> str:
    """How busy the machine is, others' work included."""
    return f"load {os.getloadavg()[0]:.1f}"


async def run(rounds: int, times: int) -> None:
    """Start everything, measure, print, stop everything."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        uri = await stack.enter_async_context(mongodb(directory))
        api, _ = await stack.enter_async_context(farhand(directory / "server", uri))
        desktops = {
            "x11": ("--desktop", "x11", "--display", await stack.enter_async_context(xvfb())),
            "sway": await stack.enter_async_context(sway(directory)),
            "xvnc": await stack.enter_async_context(xvnc()),
        }
        for name, on in desktops.items():
            await join(stack, api, directory, name, *on)
        names, before = tuple(desktops), load()
        seconds, floors = await measure(api, names, rounds, times)
        after = load()
    version = f"{platform.python_implementation()} {platform.python_version()}"
    print(f"{version}, {os.cpu_count()} cores, {before} before, {after} after")
    print(f"{rounds} rounds of {times} each")
    print(table(seconds, floors, names))
    print()
    print(verdicts(seconds, names))


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.desktops", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--times", type=int, default=5, help="of each input in a round")
    parser.add_argument("--quick", action="store_true", help="says nothing, but that it runs")
    arguments = parser.parse_args()
    rounds, times = (1, 2) if arguments.quick else (arguments.rounds, arguments.times)
    asyncio.run(run(rounds, times))


if __name__ == "__main__":
    main()
