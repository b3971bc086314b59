"""``python -m benchmarks.client``: what the client library costs, beside bare httpx.

Both send the same request to a bare Tornado handler in another process, in alternating rounds, and
read what it answers.  What is printed is the processor's time of this process for one request, in
which there is neither the server nor anything else that runs.  Imports are timed in processes of
their own.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from uuid import uuid4

import httpx

from farhand import Farhand

BARE = "bare httpx: a POST, its answer decoded"
LIBRARY = "the library: a click, its answer checked"
NOTHING = "python -c pass"
HTTPX = "python -c 'import httpx, pydantic'"
IMPORTED = "python -c 'import farhand'"

TOKEN = "fh_of_a_benchmark"
CLICK = {"x": 640, "y": 360, "button": "left", "clicks": 1}


def asking(url: str) -> dict[str, Callable[[], object]]:
    """Each way of sending one click."""
    bare = httpx.Client(trust_env=False)
    address = f"{url}/v1/computer/bench/input/mouse/click"
    machine = Farhand(url, TOKEN, trust_env=False).machine("bench")

    def ask_bare() -> object:
        headers = {"Authorization": f"Bearer {TOKEN}", "Idempotency-Key": str(uuid4())}
        return json.loads(bare.post(address, json=CLICK, headers=headers).content)

    return {BARE: ask_bare, LIBRARY: lambda: machine.click(640, 360)}


def cost(ask: Callable[[], object], times: int) -> float:
    """The processor's time for one, in milliseconds."""
    began = time.process_time()
    for _ in range(times):
        ask()
    return (time.process_time() - began) / times * 1000


def started(code: str) -> float:
    """How long a program takes, in milliseconds."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return (time.perf_counter() - began) * 1000


def main() -> None:
    """Read the options, start the server, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.client", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--times", type=int, default=100, help="requests in a round")
    arguments = parser.parse_args()
    floors = (sys.executable, "-m", "benchmarks.floors", "serve")
    with subprocess.Popen(floors, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        asks = asking(f"http://127.0.0.1:{int(server.stdout.readline())}")
        requests: dict[str, list[float]] = {name: [] for name in asks}
        imports: dict[str, list[float]] = {NOTHING: [], HTTPX: [], IMPORTED: []}
        for ask in asks.values():
            cost(ask, arguments.times)
        for _ in range(arguments.rounds):
            for name, ask in asks.items():
                requests[name].append(cost(ask, arguments.times))
            imports[NOTHING].append(started("pass"))
            imports[HTTPX].append(started("import httpx, pydantic; from pydantic import BaseModel"))
            imports[IMPORTED].append(started("import farhand"))
        server.kill()
    version = f"{platform.python_implementation()} {platform.python_version()}"
    load = os.getloadavg()[0]
    print(f"{version}, {os.cpu_count()} cores, load {load:.1f}; ms of processor, medians")
    of_requests = {name: statistics.median(found) for name, found in requests.items()}
    for name, each in of_requests.items():
        print(f"{name:44}{each:8.2f}")
    print(f"{'more than httpx':44}{of_requests[LIBRARY] - of_requests[BARE]:8.2f}  at most 0.3")
    print("ms of time, medians")
    of_imports = {name: statistics.median(found) for name, found in imports.items()}
    for name, each in of_imports.items():
        print(f"{name:44}{each:8.1f}")
    print(
        f"{'import farhand alone':44}{of_imports[IMPORTED] - of_imports[NOTHING]:8.1f}  at most 150"
    )


if __name__ == "__main__":
    main()
