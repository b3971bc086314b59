"""``python -m benchmarks.joining``: how soon many desktops have joined with one code.

Each has an X server of its own, and a machine client that is killed once on its way: as soon as it
has a token, of which the server may or may not know.  Then it is started again.  Beside the time
stands that of as many clients that only start and say their version, which is the floor of a
machine that starts all of them itself.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from benchmarks.subjects import Api, farhand, mongodb, process, until, xvfb

TOGETHER = 4
"""So many are started at once: as many desktops would, on hosts of their own."""

PATIENCE_SECONDS = 600.0


def listed(api: Api, path: str) -> list[dict[str, Any]]:
    """What a list has."""
    request = Request(
        f"{api.url}{path}?limit=1000", headers={"Authorization": f"Bearer {api.token}"}
    )
    with urlopen(request, timeout=30) as answer:
        found: list[dict[str, Any]] = json.load(answer)["items"]
        return found


async def join(api: Api, code: str, directory: Path, display: str, stack: AsyncExitStack) -> None:
    """One desktop's client, killed once."""
    command = (
        *(sys.executable, "-m", "machine_client", "join", "--server", api.url, "--code", code),
        *("--state-dir", str(directory), "--display", display),
    )
    client = await asyncio.create_subprocess_exec(*command, stderr=DEVNULL)
    await until(lambda: any(directory.glob("token*")))
    # Some before the server has heard of it, some after.
    await asyncio.sleep(random.uniform(0, 0.3))
    client.kill()
    await client.wait()
    await stack.enter_async_context(process(*command, log=DEVNULL))


async def version(times: int) -> float:
    """How long so many clients take that only start."""
    began, gate = time.monotonic(), asyncio.Semaphore(TOGETHER)

    async def one() -> None:
        async with gate:
            command = (sys.executable, "-m", "machine_client", "join", "--help")
            client = await asyncio.create_subprocess_exec(*command, stdout=DEVNULL)
            await client.wait()

    await asyncio.gather(*(one() for _ in range(times)))
    return time.monotonic() - began


async def run(machines: int) -> None:
    """Start everything, measure, print, stop everything."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        uri = await stack.enter_async_context(mongodb(directory))
        api, _ = await stack.enter_async_context(farhand(directory / "server", uri))
        displays = [await stack.enter_async_context(xvfb()) for _ in range(machines)]
        floor = await version(2 * machines)
        made = await asyncio.to_thread(api.post, "/v1/invitations", {"uses": machines})
        began, gate = time.monotonic(), asyncio.Semaphore(TOGETHER)

        async def one(number: int) -> None:
            async with gate:
                state = directory / f"host-{number}"
                await join(api, made["code"], state, displays[number], stack)

        await asyncio.gather(*(one(number) for number in range(machines)))
        online: list[dict[str, Any]] = []
        while len(online) < machines and time.monotonic() - began < PATIENCE_SECONDS:
            await asyncio.sleep(0.2)
            found = await asyncio.to_thread(listed, api, "/v1/machines")
            online = [each for each in found if each["state"] == "online"]
        took = time.monotonic() - began
        tokens = [each["machine_id"] for each in listed(api, "/v1/tokens")]
        joined = [each["id"] for each in online]
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'machines online, each killed once':44}{len(set(joined)):8}  of {machines}")
    print(f"{'tokens of theirs':44}{sum(each in joined for each in tokens):8}  of {machines}")
    print(f"{'seconds, from the code to all online':44}{took:8.1f}  at most 180 for 50")
    print(f"{'seconds, as many starts of a client alone':44}{floor:8.1f}")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.joining", description=__doc__)
    parser.add_argument("--machines", type=int, default=50)
    asyncio.run(run(parser.parse_args().machines))


if __name__ == "__main__":
    main()
