"""The dashboard and the alert rules in config/ ask for what a server really shows."""

import json
import re
from pathlib import Path

import yaml
from prometheus_client.parser import text_string_to_metric_families

from server.metrics.metrics import FINAL_OUTCOMES, LEGS
from tests.service import Service

PROJECT = Path(__file__).parent.parent.parent
CONFIG = PROJECT / "config"
NAMES = re.compile(r"\b(?:farhand|process)_[a-z_]+\b")
LABELS = re.compile(r'\b(leg|outcome)[=!]~?"([^"]*)"')

RULES = [
    rule
    for group in yaml.safe_load((CONFIG / "prometheus-alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]


def expressions() -> list[str]:
    """Every expression of the dashboard and the alert rules."""
    dashboard = json.loads((CONFIG / "grafana-dashboard.json").read_text())
    found = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    return found + [rule["expr"] for rule in RULES]


async def test_dashboard_and_alerts_ask_for_what_there_is(service: Service) -> None:
    text = (await service.get("/metrics")).body.decode()
    families = list(text_string_to_metric_families(text))
    known = {sample.name for family in families for sample in family.samples}
    known |= {family.name for family in families}  # A pool that must be there has a sample.
    asked = {name for text in expressions() for name in NAMES.findall(text)}
    assert asked <= known
    # And what a server shows is worth showing to somebody.
    shown = {name.removesuffix("_bucket").removesuffix("_total") for name in asked}
    ours = {family.name for family in families if family.name.startswith("farhand_")}
    assert ours - shown == {"farhand_event_subscribers_dropped"}


def test_labels_in_expressions_have_values_that_there_are() -> None:
    values = {"leg": set(LEGS), "outcome": {*FINAL_OUTCOMES, "replayed"}}
    for text in expressions():
        for label, wanted in LABELS.findall(text):
            assert set(wanted.split("|")) <= values[label], text


def test_prometheus_reads_the_rules_that_are_here() -> None:
    settings = yaml.safe_load((CONFIG / "prometheus.yml").read_text())
    for file in settings["rule_files"]:
        assert (CONFIG / file).is_file()
    (job,) = settings["scrape_configs"]
    assert (job["job_name"], job["metrics_path"]) == ("farhand", "/metrics")


def test_every_alert_is_explained() -> None:
    page = (PROJECT / "docs" / "reference" / "metrics.md").read_text()
    for rule in RULES:
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["description"]
        assert f"`{rule['alert']}`" in page
