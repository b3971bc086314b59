"""The metrics of several nodes as one answer to Prometheus, which reads them at one address."""

from collections.abc import Iterator, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

NODE_LABEL: Final = "node"


def merged(texts: Mapping[str, bytes]) -> bytes:
    """The metrics of nodes, by their names, in Prometheus' text format: with the label ``node``."""
    registry = CollectorRegistry()
    registry.register(_Families(texts))
    return generate_latest(registry)


class _Families(Collector):
    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self._texts = texts

    def describe(self) -> list[Metric]:
        """Nothing beforehand: what there is the nodes say."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Each family once, with the samples of all nodes."""
        families: dict[str, Metric] = {}
        for node, text in self._texts.items():
            for family in text_string_to_metric_families(text.decode()):
                merged_family = families.setdefault(
                    family.name, Metric(family.name, family.documentation, family.type)
                )
                for sample in family.samples:
                    labels = {NODE_LABEL: node, **sample.labels}
                    merged_family.add_sample(sample.name, labels, sample.value)
        return iter(families.values())
