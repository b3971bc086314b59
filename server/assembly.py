"""Puts the parts together: the only place that knows all of them."""

import json
from datetime import timedelta
from functools import cache
from importlib.metadata import version
from typing import NamedTuple

from server.api.routes import ROUTES
from server.console.assets import Asset, Assets
from server.dispatch.dispatcher import Dispatcher
from server.dispatch.fingerprints import Fingerprints
from server.dispatch.ledger.ledger import Ledger
from server.dispatch.ledger.reconciler import Reconciler
from server.dispatch.ledger.resolver import Resolver
from server.dispatch.ledger.under_way import CommandsUnderWay
from server.dispatch.live_machines import LiveMachines
from server.dispatch.machine_events import MachineEventPublisher
from server.dispatch.machine_views import MachineViews
from server.dispatch.recorder import InputRecorder
from server.events.hub import EventHub
from server.identity.authentication import Authenticator
from server.identity.secret_lookup import FailedAttempts
from server.identity.sessions import Sessions
from server.machines.admission import Admission
from server.machines.link.greeting import LinkTerms
from server.machines.registry import LinkRegistry
from server.metrics import Metrics
from server.process.body_memory import BodyMemory
from server.process.throttle import BlockingThrottle
from server.services import Services
from server.settings import ServerSettings
from server.store.audit import AuditStore
from server.store.commands import CommandStore
from server.store.input_counts import InputCountStore
from server.store.machines import MachineStore
from server.store.mongodb.database import Database
from server.store.mongodb.installation import Installation
from server.store.organizations import OrganizationStore
from server.store.sessions import SessionStore
from server.store.tokens import TokenStore
from server.store.trajectories.indexer import TrajectoryIndexer
from server.store.trajectories.pictures import PictureStore
from server.store.trajectories.store import TrajectoryStore
from server.store.trajectories.workflows import WorkflowStore
from server.store.transactions import Transactions
from server.tasks import Tasks
from server.trajectories.trajectories import Trajectories
from server.trajectories.workflows import Workflows
from server.web.endpoint import JSON
from server.web.openapi import openapi_document


class MachineParts(NamedTuple):
    """What stands between the API and the machines."""

    registry: LinkRegistry
    admission: Admission
    dispatcher: Dispatcher
    views: MachineViews
    events: MachineEventPublisher


def assemble(
    settings: ServerSettings, background: Tasks, database: Database, installation: Installation
) -> Services:
    """Everything that handlers work with."""
    fingerprints = Fingerprints(installation.secret, knows_earlier=installation.has_earlier_records)
    events, metrics = EventHub(), Metrics()
    audit = AuditStore(database, lifetime=timedelta(seconds=settings.audit_lifetime))
    recorder = InputRecorder(audit, events, metrics)
    parts = _machine_parts(settings, background, database, events, recorder, fingerprints)
    tokens, failed_attempts = TokenStore(database), FailedAttempts()
    authenticator = Authenticator(tokens, background, settings.token_check, failed_attempts)
    workflows = WorkflowStore(database)
    transactions = Transactions(database, key_lifetime=_key_lifetime(settings))
    return Services(
        settings=settings,
        background=background,
        database=database,
        organizations=OrganizationStore(database),
        tokens=tokens,
        machines=MachineStore(database),
        workflows=Workflows(workflows, transactions),
        trajectories=Trajectories(TrajectoryStore(database), workflows, transactions),
        trajectory_indexer=TrajectoryIndexer(database),
        pictures=PictureStore(database),
        authenticator=authenticator,
        sessions=_sessions(settings, background, database, authenticator, failed_attempts),
        body_memory=BodyMemory(settings.body_memory),
        blocking_throttle=BlockingThrottle(),
        console=Assets(),
        registry=parts.registry,
        admission=parts.admission,
        dispatcher=parts.dispatcher,
        fingerprints=fingerprints,
        events=events,
        machine_views=parts.views,
        machine_events=parts.events,
        audit=audit,
        recorder=recorder,
        metrics=metrics,
        openapi=_openapi,
    )


def _machine_parts(
    settings: ServerSettings,
    background: Tasks,
    database: Database,
    events: EventHub,
    recorder: InputRecorder,
    fingerprints: Fingerprints,
) -> MachineParts:
    registry, machines = LinkRegistry(), MachineStore(database)
    views = MachineViews(LiveMachines(registry), InputCountStore(database))
    publisher = MachineEventPublisher(machines, views, events, background)
    commands = CommandStore(database, lifetime=_key_lifetime(settings))
    resolver, under_way = Resolver(commands, recorder), CommandsUnderWay(background)
    reconciler = Reconciler(commands, resolver, under_way)
    admission = Admission(
        registry,
        machines,
        reconciler,
        publisher,
        background,
        terms=LinkTerms(
            unanswered_limit=settings.unanswered_inputs,
            heartbeat_seconds=settings.heartbeat,
            largest_picture=settings.screen_picture_bytes,
        ),
        reconnects_per_second=settings.reconnects_per_second,
    )
    dispatcher = Dispatcher(
        registry=registry,
        admission=admission,
        machines=machines,
        ledger=Ledger(commands, resolver, under_way, background, recorder),
        fingerprints=fingerprints,
        recorder=recorder,
        input_timeout=settings.input_timeout,
        most_viewers=settings.screen_viewers,
    )
    return MachineParts(registry, admission, dispatcher, views, publisher)


def _sessions(
    settings: ServerSettings,
    background: Tasks,
    database: Database,
    authenticator: Authenticator,
    failed_attempts: FailedAttempts,
) -> Sessions:
    return Sessions(
        SessionStore(database),
        TokenStore(database),
        authenticator,
        background,
        failed_attempts,
        cache_seconds=settings.token_check,
        lifetime=settings.console_session_lifetime,
        idle=settings.console_session_idle,
    )


def _key_lifetime(settings: ServerSettings) -> timedelta:
    return timedelta(seconds=settings.idempotency_key_lifetime)


@cache
def _openapi() -> Asset:
    """The document of every server of this process, made when it is first asked for.

    Making it takes longer than all the rest of a start, and few ask.
    """
    return Asset(json.dumps(openapi_document(ROUTES, version("farhand"))).encode(), JSON)
