"""What this process counts and measures, as Prometheus reads it.

To observe something is a few additions to plain numbers, as every input passes here; they become
Prometheus' own kinds when somebody reads them.  Everything is for the whole process: no
name of an organization, a machine or a token is in it.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, product
from typing import Final, Protocol
from uuid import UUID

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from schemas.inputs.bodies import Operation

MEDIA_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4

INPUT_BOUNDS: Final = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05),
    *(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)
"""Seconds: from a part of an input on one host to a drag of a minute."""

OPERATION_BOUNDS: Final = (
    *(0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 10.0),
)
LAG_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)

FINAL_OUTCOMES: Final = (
    "completed",
    "failed",
    "refused",
    "stopped",
    "expired",
    "not_carried_out",
    "unknown",
)
LEGS: Final = ("claim", "wait", "link", "injection", "finish")


class InputTimestamps(Protocol):
    """When an input passed each point of its way, in seconds of any one clock.

    An input without a key is not claimed: there ``claimed`` is 0.
    """

    accepted: float
    claimed: float
    sent: float
    acknowledged: float


Readings = dict[str, tuple[str, Callable[[], float]]]
"""What is read when somebody asks: for each name what it is, and how it is read."""


class Histogram:
    """How often something took how long, in seconds, by upper bounds.

    CONTRIBUTING.md says why it is not Prometheus' own.
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count one measured time."""
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self._sum += seconds

    def add_to(self, family: HistogramMetricFamily, labels: Sequence[str] = ()) -> None:
        """Put what was observed into Prometheus' own kind."""
        names = [*map(str, self._bounds), "+Inf"]
        buckets = list(zip(names, map(float, accumulate(self._counts)), strict=True))
        family.add_metric(labels, buckets, self._sum)


class Metrics(Collector):
    """Everything that is counted and timed.

    What others count anyway is asked of them when somebody reads: ``gauges`` and ``counters`` are
    filled by whoever puts the parts together, with a name, what it says, and who knows it;
    ``task_failures`` says how often which background task has failed, and ``missing`` how many
    machines of which pools are away.
    """

    def __init__(self) -> None:
        self.gauges: Readings = {}
        self.counters: Readings = {}
        self.task_failures: Mapping[str, int] = {}
        self.missing: Callable[[], Mapping[UUID, int]] = dict
        self.database = Histogram(OPERATION_BOUNDS)
        self.loop_lag = Histogram(LAG_BOUNDS)
        # What is not there before the first of its kind looks to Prometheus as if there were none.
        self._inputs: Counter[tuple[str, str]] = Counter(
            dict.fromkeys(product(Operation, FINAL_OUTCOMES), 0)
        )
        self._total = Histogram(INPUT_BOUNDS)
        self._legs = {leg: Histogram(INPUT_BOUNDS) for leg in LEGS}
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)

    def input_ended(self, operation: str, outcome: str) -> None:
        """Count an input: by its outcome, or by the name of the problem where it has none."""
        self._inputs[operation, outcome] += 1

    def input_timed(
        self, timestamps: InputTimestamps, injection: float | None, ended: float
    ) -> None:
        """Observe how long an input took from accepted to ``ended``, and on which legs.

        ``injection`` is how long the machine itself took, where it says so.
        """
        self._total.observe(ended - timestamps.accepted)
        legs = self._legs
        if timestamps.claimed:
            legs["claim"].observe(timestamps.claimed - timestamps.accepted)
        legs["wait"].observe(timestamps.sent - (timestamps.claimed or timestamps.accepted))
        link = timestamps.acknowledged - timestamps.sent
        if injection is not None:
            legs["injection"].observe(injection)
            # The machine has a clock of its own.
            link = max(link - injection, 0.0)
        legs["link"].observe(link)
        legs["finish"].observe(ended - timestamps.acknowledged)

    def render(self) -> bytes:
        """All of it in Prometheus' text format."""
        return generate_latest(self._registry)

    def describe(self) -> list[Metric]:
        """Nothing beforehand: what there is depends on what has happened."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Everything as Prometheus' own kinds."""
        inputs = CounterMetricFamily(
            "farhand_inputs",
            "Inputs by how they ended; those that the server refused by the name of the problem.",
            labels=("operation", "outcome"),
        )
        for labels, count in self._inputs.items():
            inputs.add_metric(labels, count)
        yield inputs
        yield self._failed_tasks()
        yield self._missing_machines()
        yield from self._timed()
        for name, (text, ask) in self.gauges.items():
            yield GaugeMetricFamily(name, text, value=ask())
        for name, (text, ask) in self.counters.items():
            yield CounterMetricFamily(name, text, value=ask())

    def _failed_tasks(self) -> Metric:
        failures = CounterMetricFamily(
            "farhand_task_failures", "Failures of background tasks.", labels=("task",)
        )
        for task, count in self.task_failures.items():
            failures.add_metric((task,), count)
        return failures

    def _missing_machines(self) -> Metric:
        missing = GaugeMetricFamily(
            "farhand_pool_machines_missing",
            "Machines of pools with an offline_after of their own that are away for longer.",
            labels=("pool",),
        )
        for pool_id, count in self.missing().items():
            missing.add_metric((str(pool_id),), count)
        return missing

    def _timed(self) -> Iterator[Metric]:
        total = HistogramMetricFamily(
            "farhand_input_seconds", "From an input's acceptance to its acknowledgement."
        )
        self._total.add_to(total)
        yield total
        legs = HistogramMetricFamily(
            "farhand_input_leg_seconds",
            "The legs of that: claim (the ledger's, with a key), wait (until the link may send), "
            "link (there and back, with the machine's queue), injection, finish (the ledger's).",
            labels=("leg",),
        )
        for leg, histogram in self._legs.items():
            histogram.add_to(legs, (leg,))
        yield legs
        database = HistogramMetricFamily(
            "farhand_mongodb_operation_seconds",
            "Operations of the database, failed ones too.",
        )
        self.database.add_to(database)
        yield database
        lag = HistogramMetricFamily(
            "farhand_event_loop_lag_seconds", "By how much the event loop was late."
        )
        self.loop_lag.add_to(lag)
        yield lag
