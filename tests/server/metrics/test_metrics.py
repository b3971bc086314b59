"""What is noted comes out as Prometheus reads it."""

from itertools import product
from typing import get_args

from prometheus_client.parser import text_string_to_metric_families

from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import Outcome
from server.dispatch.ledger.timings import Timings
from server.metrics.metrics import Metrics


def read(metrics: Metrics) -> dict[tuple[str, tuple[str, ...]], float]:
    """Every sample by its name and the values of its labels."""
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(metrics.render().decode())
        for sample in family.samples
    }


def test_inputs_are_counted_by_operation_and_outcome() -> None:
    metrics = Metrics()
    for outcome in ("completed", "completed", "machine-busy"):
        metrics.input_ended("mouse.move", outcome)
    samples = read(metrics)
    assert samples["farhand_inputs_total", ("mouse.move", "completed")] == 2
    assert samples["farhand_inputs_total", ("mouse.move", "machine-busy")] == 1


def test_every_final_outcome_is_there_before_the_first() -> None:
    samples = read(Metrics())
    outcomes = {each.model_fields["status"].default for each in get_args(get_args(Outcome)[0])}
    for operation, outcome in product(Operation, outcomes):
        assert samples["farhand_inputs_total", (operation, outcome)] == 0


def test_times_are_in_every_bucket_from_their_own_on() -> None:
    metrics = Metrics()
    metrics.input_timed(Timings(accepted=1.0, sent=1.5, acknowledged=2.0), 0.75, 2.0)
    metrics.input_timed(
        Timings(accepted=1.0, claimed=2.0, sent=2.0, acknowledged=101.0), None, 101.0
    )
    samples = read(metrics)
    assert samples["farhand_input_seconds_bucket", ("0.5",)] == 0
    # What lies exactly on a bound is within it.
    assert samples["farhand_input_seconds_bucket", ("1.0",)] == 1
    assert samples["farhand_input_seconds_bucket", ("60.0",)] == 1
    assert samples["farhand_input_seconds_bucket", ("+Inf",)] == 2
    assert samples["farhand_input_seconds_count", ()] == 2
    assert samples["farhand_input_seconds_sum", ()] == 101


def test_legs_are_timed_as_far_as_they_were_gone() -> None:
    metrics = Metrics()
    metrics.input_timed(Timings(accepted=1.0, sent=1.5, acknowledged=2.0), 0.75, 2.25)
    metrics.input_timed(Timings(accepted=1.0, claimed=2.0, sent=4.0, acknowledged=8.0), 1.0, 16.0)
    samples = read(metrics)
    legs = {
        leg: (
            samples["farhand_input_leg_seconds_count", (leg,)],
            samples["farhand_input_leg_seconds_sum", (leg,)],
        )
        for leg in ("claim", "wait", "link", "injection", "finish")
    }
    # The machine's own clock may say that it took longer than there and back.
    assert legs == {
        "claim": (1, 1.0),
        "wait": (2, 2.5),
        "link": (2, 3.0),
        "injection": (2, 1.75),
        "finish": (2, 8.25),
    }
    assert samples["farhand_input_leg_seconds_bucket", ("0.5", "wait")] == 1


def test_others_are_asked_when_somebody_reads() -> None:
    metrics, links = Metrics(), [1, 2]
    metrics.gauges["farhand_links"] = ("Links.", lambda: len(links))
    metrics.counters["farhand_links_opened"] = ("Links opened.", lambda: 7)
    assert read(metrics)["farhand_links", ()] == 2
    links.clear()
    samples = read(metrics)
    assert (samples["farhand_links", ()], samples["farhand_links_opened_total", ()]) == (0, 7)


def test_process_is_described_too() -> None:
    assert read(Metrics())["process_resident_memory_bytes", ()] > 0


def test_failed_tasks_are_counted_by_name() -> None:
    metrics = Metrics()
    metrics.task_failures = {"tick the links": 2}
    assert read(metrics)["farhand_task_failures_total", ("tick the links",)] == 2
