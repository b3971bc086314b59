"""``GET /metrics``: what Prometheus reads."""

import asyncio
from collections import Counter

from schemas.resources.tokens import Scope
from schemas.runs.runs import RunStatus
from server.metrics.merged import merged
from server.metrics.metrics import MEDIA_TYPE, Readings
from server.services import Services
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler


class MetricsHandler(ApiHandler):
    @Endpoint(
        summary="Read the metrics",
        description="In Prometheus' text format, for the whole process and so for all "
        "organizations together; no name of any is in it.  The nodes of one parent "
        "(farhand serve --workers) answer for all of them: each sample has the label node.",
        scope=Scope.METRICS_READ,
        answers={200: None},
        media_type="text/plain",
    )
    async def get(self) -> None:
        self.answer_bytes(200, await self._text(), MEDIA_TYPE)

    async def _text(self) -> bytes:
        cluster = self.services.cluster
        own, peers = self.services.operation.metrics.render(), cluster.presence.peers
        if cluster.node.group is None:
            return own
        texts = await asyncio.gather(*(cluster.elsewhere.metrics(peer.node_id) for peer in peers))
        of_nodes = zip([peer.name for peer in peers], texts, strict=True)
        read = {name: text for name, text in of_nodes if text is not None}
        return merged({cluster.node.name: own, **read})


def register_metrics(services: Services) -> None:
    """Have the metrics read from the parts what these count themselves."""
    metrics = services.operation.metrics
    services.operation.database.on_operation = metrics.database.observe
    metrics.task_failures = services.background.failures
    metrics.missing = lambda: services.outages.missing
    metrics.gauges = _gauges(services)
    metrics.counters = _counters(services)


def _gauges(services: Services) -> Readings:
    registry, recorder = services.machines.registry, services.operation.recorder
    events, cluster = services.events, services.cluster
    delivering, recordings = services.delivering, services.machines.recordings_here
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
            lambda: services.operation.under_way,
        ),
        "farhand_event_subscribers": ("Open event streams.", lambda: events.subscribers),
        "farhand_nodes": (
            "Nodes of the installation that are alive, as far as this one knows.",
            lambda: len(cluster.presence.others) + 1,
        ),
        "farhand_bus_connected": (
            "Whether machines of other nodes can be reached.",
            lambda: cluster.bus.is_connected,
        ),
        "farhand_bus_round_trip_seconds": (
            "How long NATS took to answer the last time that it was asked, each second.",
            lambda: cluster.bus.round_trip_seconds,
        ),
        "farhand_webhook_outbox": (
            "Deliveries to webhooks that wait, of all nodes together.",
            lambda: delivering.size.waiting,
        ),
        "farhand_webhook_oldest_seconds": (
            "How long the oldest of them has waited.",
            lambda: delivering.oldest_seconds,
        ),
        "farhand_vision_waiting": (
            "Pictures that wait to be looked at for texts and pictures.",
            lambda: services.machines.vision.waiting,
        ),
        "farhand_recordings": (
            "Recordings of machines that are connected to this node.",
            lambda: recordings.running,
        ),
        "farhand_recorded_steps_waiting": (
            "Steps of theirs that are not written yet.",
            lambda: recordings.waiting,
        ),
        "farhand_runs_under_way": (
            "Runs that this node works at, halted ones among them.",
            lambda: services.runs.executor.under_way,
        ),
        "farhand_picture_bytes": (
            "What stored pictures take, of all organizations, as the last look after them counted.",
            lambda: services.library.keeping.size,
        ),
        "farhand_pictures_going": (
            "Trajectories whose pictures go within seven days, likewise.",
            lambda: services.library.keeping.going,
        ),
        "farhand_audit_waiting": (
            "Inputs that are not recorded in the audit yet.",
            lambda: recorder.waiting,
        ),
    }


def _failed(ended: Counter[RunStatus]) -> int:
    return ended["task_failed"] + ended["error"]


def _counters(services: Services) -> Readings:
    registry, events = services.machines.registry, services.events
    database, recorder = services.operation.database, services.operation.recorder
    cluster = services.cluster
    forwarded = cluster.elsewhere.forwarded
    return {
        "farhand_vision_looks": (
            "Pictures that were looked at.",
            lambda: services.machines.vision.looks["found"],
        ),
        "farhand_vision_failed": (
            "Pictures that nobody could look at, or that waited behind too many others.",
            lambda: services.machines.vision.failed,
        ),
        "farhand_vision_seconds": (
            "How long all of them took together.",
            lambda: services.machines.vision.seconds_looked,
        ),
        "farhand_help_requested": (
            "Requests for help that this node took.",
            lambda: services.machines.help.asked,
        ),
        "farhand_help_answered": (
            "Requests for help whose answer this node took.",
            lambda: services.machines.help.ended["answered"],
        ),
        "farhand_help_timed_out": (
            "Requests for help that nobody answered in time, as this node saw first.",
            lambda: services.machines.help.ended["timed_out"],
        ),
        "farhand_runs_succeeded": (
            "Runs whose end with success this node has stored.",
            lambda: services.runs.ending.ended["success"],
        ),
        "farhand_runs_failed": (
            "Runs that ended here with task_failed or error.",
            lambda: _failed(services.runs.ending.ended),
        ),
        "farhand_runs_cancelled": (
            "Runs that were cancelled here.",
            lambda: services.runs.ending.ended["cancelled"],
        ),
        "farhand_runs_taken_over": (
            "Runs that this node went on with, as another one had gone away.",
            lambda: services.runs.executor.taken_over,
        ),
        "farhand_commands_forwarded": (
            "Inputs that another node has answered.",
            lambda: forwarded["answered"],
        ),
        "farhand_commands_forwarded_lost": (
            "Inputs that left for another node, of which no answer came.",
            lambda: forwarded["lost"],
        ),
        "farhand_bus_messages_refused": (
            "Messages of other nodes that were malformed, late, or not for this node.",
            lambda: cluster.bus.refused + sum(cluster.responder.refused.values()),
        ),
        "farhand_nodes_lost": (
            "Other nodes that this one found to be gone.",
            lambda: cluster.presence.lost,
        ),
        "farhand_links_opened": ("Links that came up.", lambda: registry.opened_links),
        "farhand_link_reconnects": (
            "Links of machines that had been connected before.",
            lambda: registry.reconnects,
        ),
        "farhand_links_moved": (
            "Links that were sent to other nodes, because this one ends.",
            lambda: registry.moved,
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
        "farhand_webhook_delivered": (
            "Deliveries to webhooks that succeeded.",
            lambda: services.delivering.delivered,
        ),
        "farhand_webhook_failed": (
            "Tries of deliveries to webhooks that failed.",
            lambda: services.delivering.failed,
        ),
        "farhand_webhook_dropped": (
            "Deliveries to webhooks that were given up unsent, because too many waited.",
            lambda: services.delivering.dropped,
        ),
        "farhand_pictures_removed": (
            "Pictures that this node removed, as their time had come.",
            lambda: services.library.keeping.removed,
        ),
        "farhand_picture_bytes_removed": (
            "The bytes that these had.",
            lambda: services.library.keeping.removed_bytes,
        ),
        "farhand_audit_lost": (
            "Inputs that the database refused to have in the audit.",
            lambda: recorder.lost,
        ),
    }
