"""``GET /metrics``: what Prometheus reads."""

from schemas.resources.tokens import Scope
from server.metrics import MEDIA_TYPE, Readings
from server.services import Services
from server.web.endpoint import Endpoint, endpoint
from server.web.handler import ApiHandler


class MetricsHandler(ApiHandler):
    @endpoint(
        Endpoint(
            summary="Read the metrics",
            description="In Prometheus' text format, for the whole process and so for all "
            "organizations together; no name of any is in it.",
            scope=Scope.METRICS_READ,
            answers={200: None},
            media_type="text/plain",
        )
    )
    async def get(self) -> None:
        self.answer_bytes(200, self.services.metrics.render(), MEDIA_TYPE)


def register_metrics(services: Services) -> None:
    """Have the metrics read from the parts what these count themselves."""
    services.database.on_operation = services.metrics.database.observe
    services.metrics.task_failures = services.background.failures
    services.metrics.gauges = _gauges(services)
    services.metrics.counters = _counters(services)


def _gauges(services: Services) -> Readings:
    registry, events, recorder = services.registry, services.events, services.recorder
    return {
        "farhand_links": ("Machines that are connected.", lambda: registry.connected),
        "farhand_links_without_input": (
            "Connected machines whose desktop takes no input.",
            lambda: registry.without_input,
        ),
        "farhand_links_without_screen": (
            "Connected machines whose screen should be seen and cannot.",
            lambda: registry.without_screen,
        ),
        "farhand_inputs_unanswered": (
            "Inputs that wait for their machine's acknowledgement.",
            lambda: sum(link.unanswered for link in registry),
        ),
        "farhand_requests_under_way": (
            "Requests that are not answered yet; streams and links are not among them.",
            lambda: services.under_way,
        ),
        "farhand_event_subscribers": ("Open event streams.", lambda: events.subscribers),
        "farhand_audit_waiting": (
            "Inputs that are not recorded in the audit yet.",
            lambda: recorder.waiting,
        ),
    }


def _counters(services: Services) -> Readings:
    registry, events = services.registry, services.events
    database, recorder = services.database, services.recorder
    return {
        "farhand_links_opened": ("Links that came up.", lambda: registry.opened_links),
        "farhand_link_reconnects": (
            "Links of machines that had been connected before.",
            lambda: registry.reconnects,
        ),
        "farhand_link_takeovers": (
            "Links that replaced a live one of the same machine.",
            lambda: registry.takeovers,
        ),
        "farhand_event_subscribers_dropped": (
            "Event streams that were read too slowly.",
            lambda: events.dropped,
        ),
        "farhand_mongodb_failures": (
            "Operations that the database did not answer in time.",
            lambda: database.failures,
        ),
        "farhand_audit_lost": (
            "Inputs that the database refused to have in the audit.",
            lambda: recorder.lost,
        ),
    }
