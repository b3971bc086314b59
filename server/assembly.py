"""Puts the parts together: the only place that knows all of them."""

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from importlib.metadata import version

from schemas.resources.trajectories import ChangedTrajectory
from server import told
from server.api.routes import ROUTES
from server.bus.bus import Bus
from server.bus.subjects import Subjects
from server.console.assets import Asset, Assets
from server.console.site import FIRST_PAGE, Site
from server.dispatch.control import MachineControl
from server.dispatch.dispatcher import Dispatcher
from server.dispatch.fingerprints import Fingerprints
from server.dispatch.forwarding.addresses import LinkAddresses
from server.dispatch.forwarding.elsewhere import MachinesElsewhere
from server.dispatch.forwarding.membership import Membership
from server.dispatch.forwarding.responder import Responder
from server.dispatch.hand.hands import Hands
from server.dispatch.here.links import LinksHere
from server.dispatch.here.machines import MachinesHere
from server.dispatch.ledger.ledger import Ledger
from server.dispatch.ledger.reconciler import Reconciler
from server.dispatch.ledger.resolver import Resolver
from server.dispatch.ledger.under_way import CommandsUnderWay
from server.dispatch.live_machines import LiveMachines
from server.dispatch.looks import Looks
from server.dispatch.machine_events import MachineEventPublisher
from server.dispatch.machine_views import MachineViews
from server.dispatch.recorder import InputRecorder, audit_item
from server.dispatch.recording.here import RecordingsHere
from server.dispatch.recording.writing import RecordingWriter
from server.dispatch.stretches import StretchRecorder
from server.errors import NotFound, WrongState
from server.events.hub import EventHub
from server.events.memory_hub import MemoryEventHub
from server.events.shared_hub import SharedEventHub
from server.events.tags import event_tags
from server.fleet.bulk import Bulk
from server.fleet.fleet import Fleet
from server.fleet.help import Help
from server.fleet.invitations import Invitations
from server.fleet.lasting_rights import LastingRights
from server.fleet.lists.lists import MachineLists
from server.fleet.pauses import Pauses
from server.fleet.pools import Pools
from server.fleet.reach import Reach
from server.fleet.recordings import Recordings, editor_of
from server.fleet.rotations import Rotations
from server.identity.authentication import Authenticator
from server.identity.organizations import Organizations
from server.identity.secret_lookup import FailedAttempts, SecretLookup
from server.identity.sessions import Sessions
from server.identity.tokens import Tokens
from server.machines.admission import Admission
from server.machines.link.greeting import LinkTerms
from server.machines.registry import LinkRegistry
from server.machines.shown_frames import ShownFrames
from server.metrics.metrics import Metrics
from server.nodes.presence import Presence
from server.process.body_memory import BodyMemory
from server.process.long_answers import LongAnswers
from server.process.node import Node
from server.process.throttle import BlockingThrottle
from server.runs.ending import RunEnding
from server.runs.executor import RunExecutor
from server.runs.many import ManyRuns
from server.runs.runs import Runs
from server.runs.together import RunGround, runs_together
from server.secrets.sealing import Sealing
from server.services import Access, Cluster, Library, Machines, Operation, RunParts, Services
from server.settings import ServerSettings
from server.store.audit import AuditEntry, AuditStore
from server.store.commands import CommandStore
from server.store.event_log import EventLog
from server.store.help.requests import HelpStore
from server.store.identity.organizations import OrganizationStore
from server.store.identity.sessions import SessionStore
from server.store.identity.tokens import TokenStore
from server.store.machines.controls import ControlStore
from server.store.machines.input_counts import InputCountStore
from server.store.machines.invitations import InvitationStore
from server.store.machines.machines import MachineStore
from server.store.machines.pauses import PauseStore
from server.store.machines.pools import PoolStore
from server.store.machines.rows import MachineRowStore
from server.store.machines.troubles import TroubleStore
from server.store.mongodb.database import Database
from server.store.mongodb.installation import Installation
from server.store.picture_rounds import PictureRounds
from server.store.presence import NodeStore
from server.store.recordings.recordings import RecordingStore, StoredRecording
from server.store.trajectories.expiry import PictureExpiry
from server.store.trajectories.indexer import TrajectoryIndexer
from server.store.trajectories.picture_room import PictureRoom
from server.store.trajectories.pictures import PictureStore
from server.store.trajectories.store import TrajectoryStore
from server.store.trajectories.workflows import WorkflowStore
from server.store.transactions import Transactions
from server.store.webhooks.outages import OutageStore
from server.store.webhooks.outbox import Outbox
from server.store.webhooks.webhooks import WebhookStore
from server.tasks import Tasks
from server.trajectories.editing import StepEditing
from server.trajectories.importing import TrajectoryImport
from server.trajectories.keeping import PictureKeeping
from server.trajectories.reviewing import Reviews
from server.trajectories.trajectories import Trajectories
from server.trajectories.workflows import Workflows
from server.vision.vision import Vision
from server.web.endpoint import JSON
from server.web.openapi import openapi_document
from server.web.reference.page import reference_page
from server.webhooks.addresses import look_up
from server.webhooks.delivering import Delivering
from server.webhooks.help import HelpDeliveries
from server.webhooks.outages import Outages
from server.webhooks.posting import POST_SECONDS, Poster
from server.webhooks.runs import RunDeliveries
from server.webhooks.webhooks import Webhooks


@dataclass(frozen=True)
class Ground:
    """What all parts of a server stand on."""

    settings: ServerSettings
    background: Tasks
    database: Database
    installation: Installation
    secrets: Sealing
    node: Node
    bus: Bus

    @property
    def subjects(self) -> Subjects:
        """What the messages of this installation are addressed to."""
        return Subjects(self.installation.secret)

    @property
    def key_lifetime(self) -> timedelta:
        """How long what was done under a key is known."""
        return timedelta(seconds=self.settings.idempotency_key_lifetime)


def assemble(ground: Ground) -> Services:
    """Everything that handlers work with."""
    settings, database = ground.settings, ground.database
    if settings.picture_lifetime:
        database.picture_lifetime = timedelta(seconds=settings.picture_lifetime)
    fingerprints = Fingerprints(ground.installation.secret)
    events, metrics = _event_hub(ground), Metrics()
    audit = _audit(ground, events)
    recorder = InputRecorder(audit, events, metrics)
    console, site = Assets(), Site(settings.docs_dir)
    documentation = f"docs/{FIRST_PAGE}" if site.is_installed else None
    operation = Operation(
        database=database,
        metrics=metrics,
        recorder=recorder,
        body_memory=BodyMemory(settings.body_memory),
        blocking_throttle=BlockingThrottle(),
        long_answers=LongAnswers(),
        console=console,
        site=site,
        openapi=partial(_openapi, documentation),
        reference=partial(_reference, documentation, console.version),
    )
    failed_attempts = FailedAttempts()
    library = _library(ground)
    machines, cluster = _machines(
        ground, events, audit, fingerprints, operation, failed_attempts, library.trajectories
    )
    webhooks, delivering, outages = _webhooks(ground, machines.pools)
    runs, many, executor, ending = _runs(ground, machines, events)
    return Services(
        settings=settings,
        background=ground.background,
        events=events,
        audit=audit,
        fingerprints=fingerprints,
        access=_access(settings, ground.background, database, failed_attempts),
        library=library,
        machines=machines,
        operation=operation,
        cluster=cluster,
        webhooks=webhooks,
        delivering=delivering,
        outages=outages,
        runs=RunParts(runs=runs, many=many, executor=executor, ending=ending),
    )


def _access(
    settings: ServerSettings,
    background: Tasks,
    database: Database,
    failed_attempts: FailedAttempts,
) -> Access:
    tokens, organizations = TokenStore(database), OrganizationStore(database)
    authenticator = Authenticator(tokens, background, settings.token_check, failed_attempts)
    sessions = Sessions(
        SessionStore(database),
        tokens,
        authenticator,
        background,
        failed_attempts,
        cache_seconds=settings.token_check,
        lifetime=settings.console_session_lifetime,
        idle=settings.console_session_idle,
    )
    return Access(
        authenticator=authenticator,
        sessions=sessions,
        tokens=Tokens(tokens, organizations, MachineStore(database), PoolStore(database)),
        organizations=Organizations(organizations),
    )


def _library(ground: Ground) -> Library:
    database = ground.database
    trajectories, workflows = TrajectoryStore(database), WorkflowStore(database)
    transactions = Transactions(database, key_lifetime=ground.key_lifetime)
    pictures = PictureStore(database)
    return Library(
        trajectories=Trajectories(trajectories, workflows, transactions),
        steps=StepEditing(trajectories, pictures, transactions),
        reviews=Reviews(transactions, authors_may_approve=ground.settings.authors_may_approve),
        workflows=Workflows(workflows, transactions),
        pictures=pictures,
        keeping=PictureKeeping(
            PictureRounds(database),
            PictureExpiry(database),
            PictureRoom(database),
            ground.node.node_id,
            lifetime=database.picture_lifetime,
            most_bytes=ground.settings.picture_storage or None,
        ),
        imports=TrajectoryImport(trajectories),
        indexer=TrajectoryIndexer(database),
    )


def _webhooks(ground: Ground, pools: Pools) -> tuple[Webhooks, Delivering, Outages]:
    settings, store = ground.settings, WebhookStore(ground.database)
    outbox = Outbox(ground.database, settings.webhook_outbox)
    poster = Poster(settings.webhook_private_addresses, look_up, POST_SECONDS)
    delivering = Delivering(outbox, store, poster, ground.background)
    outages = Outages(
        OutageStore(ground.database, outbox),
        store,
        PoolStore(ground.database),
        delivering,
        after=timedelta(seconds=settings.offline_after),
        alone_as=None if settings.has_nats else ground.node.node_id,
    )
    return Webhooks(store, outbox, delivering, pools), delivering, outages


def _event_hub(ground: Ground) -> EventHub:
    if not ground.settings.has_nats:
        return MemoryEventHub()
    return SharedEventHub(
        EventLog(ground.database),
        ground.bus,
        ground.background,
        prefix=ground.subjects.events,
        tag_of=event_tags(ground.installation.secret),
    )


def _audit(ground: Ground, events: EventHub) -> AuditStore:
    def tell(entry: AuditEntry) -> None:
        told = partial(audit_item, entry)
        events.publish(entry.organization_id, "audit", told, entry.machine_id)

    lifetime = timedelta(seconds=ground.settings.audit_lifetime)
    return AuditStore(ground.database, lifetime=lifetime, stored=tell)


def _machines(
    ground: Ground,
    events: EventHub,
    audit: AuditStore,
    fingerprints: Fingerprints,
    operation: Operation,
    failed_attempts: FailedAttempts,
    trajectories: Trajectories,
) -> tuple[Machines, Cluster]:
    """What stands between the API and the machines, and this node among the others."""
    settings, background, database = ground.settings, ground.background, ground.database
    node, bus, subjects, recorder = ground.node, ground.bus, ground.subjects, operation.recorder
    registry, machines = LinkRegistry(), MachineStore(database)
    recorder.is_private = registry.is_private
    addresses = LinkAddresses(machines, node.node_id, is_alone=not settings.has_nats)
    commands = CommandStore(database, lifetime=ground.key_lifetime)
    resolver, under_way = Resolver(commands, recorder), CommandsUnderWay(background)
    ledger = Ledger(commands, resolver, under_way, background, recorder)
    elsewhere = MachinesElsewhere(bus, subjects, addresses, background, ledger.has_ended)
    links_here = LinksHere(registry, node.name)
    live, pool_store = LiveMachines(links_here, elsewhere, node.node_id), PoolStore(database)
    views = MachineViews(live, InputCountStore(database), pool_store)
    publisher = MachineEventPublisher(machines, views, events, background)
    vision = Vision(
        settings.vision_processes, settings.vision_memory, settings.vision_timeout, background
    )
    membership = Membership(
        bus, subjects, node.node_id, elsewhere, registry, machines, publisher.changed
    )
    transactions = Transactions(database, key_lifetime=ground.key_lifetime)
    writer = RecordingWriter(transactions, told.of_recordings(events, publisher))
    pictures = PictureStore(database)
    recordings_here = RecordingsHere(writer, pictures, background)
    admission = Admission(
        registry,
        machines,
        Reconciler(commands, resolver, under_way),
        publisher,
        membership,
        TroubleStore(database),
        recordings_here,
        background,
        frames=ShownFrames(vision, background),
        node=node,
        terms=LinkTerms(
            unanswered_limit=settings.unanswered_inputs,
            heartbeat_seconds=settings.heartbeat,
            largest_picture=settings.screen_picture_bytes,
        ),
        reconnects_per_second=settings.reconnects_per_second,
    )
    here = MachinesHere(registry, admission, ledger, recorder, vision, recordings_here, pictures)
    cluster = Cluster(
        node=node,
        bus=bus,
        presence=Presence(
            node, NodeStore(database), on_gone=membership.gone, on_missed=membership.announce_links
        ),
        membership=membership,
        elsewhere=elsewhere,
        responder=Responder(here, links_here, elsewhere.texts, operation.metrics.render),
    )
    dispatcher = Dispatcher(
        here=here,
        elsewhere=elsewhere,
        node_id=node.node_id,
        is_alive=cluster.presence.is_alive,
        machines=machines,
        ledger=ledger,
        fingerprints=fingerprints,
        recorder=recorder,
        input_timeout=settings.input_timeout,
        most_viewers=settings.screen_viewers,
    )
    changed = publisher.changed
    stretches = StretchRecorder(audit, background, recorder.worked_by_hand)
    pauses = Pauses(PauseStore(database), audit, dispatcher, changed)
    pools = Pools(pool_store, changed)
    reach = Reach(pool_store, TrajectoryStore(database), pictures)
    lists = MachineLists(MachineRowStore(database), live, pools)
    stored_invitations = InvitationStore(database, machines)
    invitations = Invitations(
        stored_invitations,
        machines,
        audit,
        pools,
        SecretLookup(stored_invitations.find_by_hashes, failed_attempts, background),
        changed,
    )
    fleet = Fleet(
        machines,
        TokenStore(database),
        TroubleStore(database),
        views,
        dispatcher,
        pauses,
        pools,
        lists,
        changed,
    )
    rotations = Rotations(fleet, invitations, dispatcher)
    door = Machines(
        fleet=fleet,
        bulk=Bulk(fleet, rotations, lists, pools, reach),
        invitations=invitations,
        rotations=rotations,
        pools=pools,
        reach=reach,
        pauses=pauses,
        recordings=Recordings(
            RecordingStore(database),
            writer,
            transactions,
            machines,
            LastingRights(TokenStore(database), pool_store),
            audit,
            dispatcher,
            partial(_generated, trajectories),
            changed,
        ),
        recordings_here=recordings_here,
        help=_help(ground, transactions, audit, events),
        dispatcher=dispatcher,
        control=_control(ground, audit, dispatcher, publisher),
        hands=Hands(),
        stretches=stretches,
        looks=Looks(stretches),
        events=publisher,
        admission=admission,
        registry=registry,
        vision=vision,
    )
    return door, cluster


def _help(ground: Ground, transactions: Transactions, audit: AuditStore, events: EventHub) -> Help:
    database = ground.database
    return Help(
        HelpStore(database),
        transactions,
        audit,
        Outbox(database, ground.settings.webhook_outbox),
        HelpDeliveries(WebhookStore(database), PoolStore(database)).of,
        told.of_help(events),
    )


def _runs(
    ground: Ground, machines: Machines, events: EventHub
) -> tuple[Runs, ManyRuns, RunExecutor, RunEnding]:
    database = ground.database
    return runs_together(
        RunGround(
            database=database,
            background=ground.background,
            outbox=Outbox(database, ground.settings.webhook_outbox),
            key_lifetime=ground.key_lifetime,
            dispatcher=machines.dispatcher,
            control=machines.control,
            help=machines.help,
            reach=machines.reach,
            deliveries=RunDeliveries(WebhookStore(database), PoolStore(database)).of,
            told=told.of_runs(events),
            sealing=ground.secrets,
        )
    )


async def _generated(trajectories: Trajectories, ended: StoredRecording) -> None:
    """End the generation of the trajectory of a recording that has ended.

    One that was deleted, has no step, or is generated already, stays as it is.
    """
    change = ChangedTrajectory(is_generated=True)
    with suppress(NotFound, WrongState):
        await trajectories.change(
            ended.organization_id, editor_of(ended), ended.trajectory_id, change
        )


def _control(
    ground: Ground, audit: AuditStore, dispatcher: Dispatcher, publisher: MachineEventPublisher
) -> MachineControl:
    return MachineControl(
        ControlStore(ground.database),
        MachineStore(ground.database),
        TokenStore(ground.database),
        SessionStore(ground.database),
        audit,
        dispatcher,
        publisher.changed,
        session_idle=timedelta(seconds=ground.settings.console_session_idle),
    )


@cache
def _openapi(documentation: str | None) -> Asset:
    """The document of every server of this process, made when it is first asked for.

    Making it takes longer than all the rest of a start, and few ask.
    """
    document = openapi_document(ROUTES, version("farhand"), documentation)
    return Asset(json.dumps(document).encode(), JSON)


@cache
def _reference(documentation: str | None, console_version: str) -> Asset:
    """The same for people, made once as well."""
    return reference_page(_openapi(documentation).content, console_version)
