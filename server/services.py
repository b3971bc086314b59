"""The parts that handlers work with; server.assembly makes them."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from server.bus.bus import Bus
from server.console.assets import Asset, Assets
from server.console.site import Site
from server.dispatch.control import MachineControl
from server.dispatch.dispatcher import Dispatcher
from server.dispatch.fingerprints import Fingerprints
from server.dispatch.forwarding.elsewhere import MachinesElsewhere
from server.dispatch.forwarding.membership import Membership
from server.dispatch.forwarding.responder import Responder
from server.dispatch.hand.hands import Hands
from server.dispatch.looks import Looks
from server.dispatch.machine_events import MachineEventPublisher
from server.dispatch.recorder import InputRecorder
from server.dispatch.recording.here import RecordingsHere
from server.dispatch.stretches import StretchRecorder
from server.events.hub import EventHub
from server.fleet.bulk import Bulk
from server.fleet.fleet import Fleet
from server.fleet.help import Help
from server.fleet.invitations import Invitations
from server.fleet.pauses import Pauses
from server.fleet.pools import Pools
from server.fleet.reach import Reach
from server.fleet.recordings import Recordings
from server.fleet.rotations import Rotations
from server.identity.authentication import Authenticator
from server.identity.organizations import Organizations
from server.identity.sessions import Sessions
from server.identity.tokens import Tokens
from server.machines.admission import Admission
from server.machines.registry import LinkRegistry
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
from server.settings import ServerSettings
from server.store.audit import AuditStore
from server.store.mongodb.database import Database
from server.store.trajectories.indexer import TrajectoryIndexer
from server.store.trajectories.pictures import PictureStore
from server.tasks import Tasks
from server.trajectories.editing import StepEditing
from server.trajectories.importing import TrajectoryImport
from server.trajectories.keeping import PictureKeeping
from server.trajectories.reviewing import Reviews
from server.trajectories.trajectories import Trajectories
from server.trajectories.workflows import Workflows
from server.vision.vision import Vision
from server.webhooks.delivering import Delivering
from server.webhooks.outages import Outages
from server.webhooks.webhooks import Webhooks


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """This node among the others of its installation."""

    node: Node
    bus: Bus
    presence: Presence
    membership: Membership
    elsewhere: MachinesElsewhere
    responder: Responder


@dataclass(frozen=True, kw_only=True)
class Access:
    """Who may do what."""

    authenticator: Authenticator
    sessions: Sessions
    tokens: Tokens
    organizations: Organizations


@dataclass(frozen=True, kw_only=True)
class Library:
    """What was recorded: trajectories, their workflows and their pictures."""

    trajectories: Trajectories
    steps: StepEditing
    reviews: Reviews
    workflows: Workflows
    pictures: PictureStore
    keeping: PictureKeeping
    imports: TrajectoryImport
    indexer: TrajectoryIndexer


@dataclass(frozen=True, kw_only=True)
class Machines:
    """The machines: the door through which all is asked of them, and their links here.

    ``waits`` counts by token who waits for what a screen shows, ``element_questions`` who asks what
    elements there are, ``help_waits`` who waits for people.
    """

    fleet: Fleet
    invitations: Invitations
    rotations: Rotations
    pools: Pools
    reach: Reach
    bulk: Bulk
    dispatcher: Dispatcher
    control: MachineControl
    pauses: Pauses
    recordings: Recordings
    recordings_here: RecordingsHere
    help: Help
    hands: Hands
    stretches: StretchRecorder
    looks: Looks
    events: MachineEventPublisher
    admission: Admission
    registry: LinkRegistry
    vision: Vision
    waits: Counter[UUID] = field(default_factory=Counter)
    element_questions: Counter[UUID] = field(default_factory=Counter)
    help_waits: Counter[UUID] = field(default_factory=Counter)


@dataclass(frozen=True, kw_only=True)
class RunParts:
    """Runs: what is asked of them, and those that this node works at."""

    runs: Runs
    many: ManyRuns
    executor: RunExecutor
    ending: RunEnding


@dataclass(kw_only=True)
class Operation:
    """What keeps the server itself running, and shows how it does.

    ``under_way`` counts the requests that are not answered yet.  ``leaving`` is set once, when the
    server is told to end: others are to be asked from then on.  ``stopping`` is set after it, and
    then no new requests are taken.  ``openapi`` and ``reference`` may take a moment, in any thread.
    """

    database: Database
    metrics: Metrics
    recorder: InputRecorder
    body_memory: BodyMemory
    blocking_throttle: BlockingThrottle
    long_answers: LongAnswers
    console: Assets
    site: Site
    openapi: Callable[[], Asset]
    reference: Callable[[], Asset]
    under_way: int = 0
    leaving: bool = False
    stopping: bool = False


@dataclass(frozen=True, kw_only=True)
class Services:
    """Everything that lives as long as the server."""

    settings: ServerSettings
    background: Tasks
    events: EventHub
    audit: AuditStore
    fingerprints: Fingerprints
    access: Access
    library: Library
    machines: Machines
    operation: Operation
    cluster: Cluster
    webhooks: Webhooks
    delivering: Delivering
    outages: Outages
    runs: RunParts
