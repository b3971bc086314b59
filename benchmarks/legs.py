"""Where the time of an input goes, by the server's own metrics: leg by leg, on the clock."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit
from urllib.request import Request as UrlRequest
from urllib.request import urlopen

from benchmarks.load import Request

COLUMNS = "claim", "wait", "link", "injection", "finish"
WAIT_SECONDS = 10.0

_LEG = re.compile(r'^farhand_input_leg_seconds_(sum|count)\{leg="(\w+)"\} (\S+)$', re.MULTILINE)

Sums = Mapping[tuple[str, str], float]
"""The sum and the count of each leg, since the server began."""


def read(request: Request) -> Sums:
    """What the server that an input is sent to says now."""
    parts = urlsplit(request.url)
    asked = UrlRequest(
        f"{parts.scheme}://{parts.netloc}/metrics",
        headers={"Authorization": f"Bearer {request.token}"},
    )
    with urlopen(asked, timeout=WAIT_SECONDS) as answer:
        found = _LEG.findall(answer.read().decode())
    return {(leg, kind): float(value) for kind, leg, value in found}


class Legs:
    """Adds up what passed between two readings, round after round."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str], float] = defaultdict(float)

    def add(self, before: Sums, after: Sums) -> None:
        """Take in one round."""
        for each, value in after.items():
            self._sums[each] += value - before.get(each, 0.0)

    def __bool__(self) -> bool:
        """Whether anything was taken in."""
        return bool(self._sums)

    def mean_ms(self, leg: str) -> float:
        """The mean of one leg in milliseconds; 0 where nothing has one."""
        count = self._sums[leg, "count"]
        return self._sums[leg, "sum"] / count * 1000 if count else 0.0


def table(rows: Iterable[tuple[str, Legs, float]]) -> str:
    """The legs of each subject; what is left of its mean (ms) is outside: HTTP, and its checks."""
    lines = [f"{'alone, mean ms':42}" + "".join(f"{name:>10}" for name in (*COLUMNS, "outside"))]
    for name, legs, mean in rows:
        means = [legs.mean_ms(leg) for leg in COLUMNS]
        lines.append(f"{name:42}" + "".join(f"{ms:10.2f}" for ms in (*means, mean - sum(means))))
    return "\n".join(lines)
