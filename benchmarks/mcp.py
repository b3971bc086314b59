"""``python -m benchmarks.mcp``: what a tool of ``/mcp`` costs, beside the request it stands for.

A server, and a machine that has joined it on a virtual X server of 1280 x 800.  In alternating
rounds: a keyed click and a screenshot by REST, and the same by tools, as hosts of the newest
version of the protocol call them and as those before it do; of each the time, and the server's
own time of the processor.
"""

import argparse
import asyncio
import json
import os
import platform
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from benchmarks.fleet.measures import processor_seconds
from benchmarks.load import Request, ask_alone
from benchmarks.screen import median_ms
from benchmarks.subjects import CLICK, Api, desktop, mongodb

VERSION = "2026-07-28"
MOST_MS = 5.0
"""That a tool may take longer than its request."""


def tool(api: Api, name: str, arguments: dict[str, Any], *, is_new: bool) -> Request:
    """A call of a tool."""
    params: dict[str, Any] = {"name": name, "arguments": {"machine": "bench", **arguments}}
    headers = ""
    if is_new:
        namespace = "io.modelcontextprotocol"
        params["_meta"] = {
            f"{namespace}/protocolVersion": VERSION,
            f"{namespace}/clientCapabilities": {},
        }
        headers = (
            f"MCP-Protocol-Version: {VERSION}\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n"
        )
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return Request(f"{api.url}/mcp", json.dumps(message).encode(), api.token, headers=headers)


def asked(api: Api) -> dict[str, dict[str, Request]]:
    """The requests, and the tools that stand for each."""
    place = json.loads(CLICK)
    coordinate = {"coordinate": [place["x"], place["y"]]}
    shot = f"{api.url}/v1/computer/bench/display/screenshot?width=1280&height=1280"
    return {
        "a keyed click": {
            "REST": api.input("mouse/click", CLICK, keyed=True),
            "a tool": tool(api, "left_click", coordinate, is_new=True),
            "a tool, older hosts": tool(api, "left_click", coordinate, is_new=False),
        },
        "a screenshot": {
            "REST": Request(shot, b"", api.token, method="GET"),
            "a tool": tool(api, "screenshot", {}, is_new=True),
            "a tool, older hosts": tool(api, "screenshot", {}, is_new=False),
        },
    }


async def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    found: dict[tuple[str, str], list[float]] = {}
    costs: dict[tuple[str, str], list[float]] = {}
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        uri = await stack.enter_async_context(mongodb(directory))
        api = (await stack.enter_async_context(desktop(directory / "server", uri))).api
        requests = asked(api)
        for number in range(arguments.rounds + 1):
            for what, ways in requests.items():
                for way, request in ways.items():
                    before = processor_seconds(api.pid)
                    measured = await ask_alone(request, arguments.times)
                    cost = (processor_seconds(api.pid) - before) / arguments.times
                    if number:  # The first is to warm up.
                        found.setdefault((what, way), []).extend(measured.seconds)
                        costs.setdefault((what, way), []).append(cost)
    load = os.getloadavg()[0]
    print(f"{platform.python_implementation()} {platform.python_version()}, load {load:.1f}")
    print(f"{'ms, medians':32}{'time':>9}{'more':>9}{'processor':>11}{'more':>9}")
    for name in found:
        what, way = name
        figures = [f"{f'{what}: {way}':32}"]
        for each, width in ((found, 9), (costs, 11)):
            own, floor = median_ms(each[name]), median_ms(each[what, "REST"])
            more = "" if way == "REST" else f"{own - floor:.2f}"
            figures.append(f"{own:{width}.2f}{more:>9}")
        print("".join(figures))
    print(f"a tool may take at most {MOST_MS:g} ms more")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mcp", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--times", type=int, default=30, help="of each in a round")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
