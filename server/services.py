"""The parts that handlers work with; server.app makes them."""

from collections.abc import Callable
from dataclasses import dataclass

from server.console.assets import Asset, Assets
from server.dispatch.fingerprints import Fingerprints
from server.dispatch.ledger import Ledger
from server.dispatch.machine_events import MachineNews
from server.dispatch.machine_views import MachineViews
from server.dispatch.recorder import InputRecorder
from server.events.hub import EventHub
from server.identity.authentication import Authenticator
from server.identity.sessions import Sessions
from server.machines.registry import LinkRegistry
from server.metrics import Metrics
from server.process.body_memory import BodyMemory
from server.process.throttle import BlockingThrottle
from server.settings import ServerSettings
from server.store.audit import AuditStore
from server.store.machines import MachineStore
from server.store.mongodb.database import Database
from server.store.organizations import OrganizationStore
from server.store.pictures import PictureStore
from server.store.tokens import TokenStore
from server.store.trajectories.catalogue import TrajectoryCatalogue
from server.store.trajectories.store import TrajectoryStore
from server.store.workflows import WorkflowStore
from server.tasks import Tasks


@dataclass(kw_only=True)
class Services:
    """Everything that lives as long as the server.

    ``under_way`` counts the requests that are not answered yet; ``stopping`` is set once, at the
    server's end, and then no new ones are taken.  ``openapi`` may take a moment, in any thread.
    """

    settings: ServerSettings
    background: Tasks
    database: Database
    organizations: OrganizationStore
    tokens: TokenStore
    machines: MachineStore
    workflows: WorkflowStore
    trajectories: TrajectoryStore
    catalogue: TrajectoryCatalogue
    pictures: PictureStore
    authenticator: Authenticator
    sessions: Sessions
    body_memory: BodyMemory
    blocking_throttle: BlockingThrottle
    console: Assets
    registry: LinkRegistry
    ledger: Ledger
    fingerprints: Fingerprints
    events: EventHub
    views: MachineViews
    news: MachineNews
    audit: AuditStore
    recorder: InputRecorder
    metrics: Metrics
    openapi: Callable[[], Asset]
    under_way: int = 0
    stopping: bool = False
