"""What is noted comes out as Prometheus reads it."""

from prometheus_client.parser import text_string_to_metric_families

from server.metrics import Metrics


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


def test_times_are_in_every_bucket_from_their_own_on() -> None:
    metrics = Metrics()
    metrics.input_timed(0.0015, {"wait": 0.0005, "link": -0.1})
    metrics.input_timed(100.0, {})
    samples = read(metrics)
    assert samples["farhand_input_seconds_bucket", ("0.001",)] == 0
    assert samples["farhand_input_seconds_bucket", ("0.0025",)] == 1
    assert samples["farhand_input_seconds_bucket", ("60.0",)] == 1
    assert samples["farhand_input_seconds_bucket", ("+Inf",)] == 2
    assert samples["farhand_input_seconds_count", ()] == 2
    assert samples["farhand_input_seconds_sum", ()] == 100.0015
    # What lies exactly on a bound is within it; what clocks make negative is nothing.
    assert samples["farhand_input_leg_seconds_bucket", ("0.0005", "wait")] == 1
    assert samples["farhand_input_leg_seconds_sum", ("link",)] == 0
    assert samples["farhand_input_leg_seconds_count", ("claim",)] == 0


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
