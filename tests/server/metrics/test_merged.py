"""The metrics of several nodes in one answer."""

from prometheus_client.parser import text_string_to_metric_families

from server.metrics.merged import merged
from server.metrics.metrics import Metrics


def test_each_family_is_there_once_with_the_samples_of_all_nodes() -> None:
    first, second = Metrics(), Metrics()
    first.input_ended("mouse.move", "completed")
    second.input_ended("mouse.move", "completed")
    second.input_ended("mouse.move", "completed")
    first.loop_lag.observe(0.1)
    text = merged({"a": first.render(), "b": second.render()}).decode()
    names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(names) == len(set(names))
    families = {each.name: each for each in text_string_to_metric_families(text)}
    counted = {
        sample.labels["node"]: sample.value
        for sample in families["farhand_inputs"].samples
        if sample.name == "farhand_inputs_total"
        and sample.labels["operation"] == "mouse.move"
        and sample.labels["outcome"] == "completed"
    }
    assert counted == {"a": 1, "b": 2}
    lags = families["farhand_event_loop_lag_seconds"].samples
    assert {sample.labels["node"] for sample in lags} == {"a", "b"}
    assert sum(sample.value for sample in lags if sample.name.endswith("_count")) == 1
