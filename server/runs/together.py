"""Puts the parts of runs together, for one node."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from schemas.runs.runs import Run
from server.dispatch.control import MachineControl
from server.dispatch.dispatcher import Dispatcher
from server.fleet.help import Help
from server.fleet.lasting_rights import LastingRights
from server.fleet.reach import Reach
from server.runs.answering import ParkedAnswers
from server.runs.beginning import RunBeginning
from server.runs.course import CourseParts
from server.runs.ending import MakeDeliveries, RunEnding
from server.runs.executor import RunExecutor
from server.runs.halting import RunHalts
from server.runs.many import ManyRuns
from server.runs.repairing.repairs import RunRepairs
from server.runs.runs import Runs
from server.runs.unattended import UnattendedRuns
from server.secrets.sealing import Sealing
from server.store.identity.tokens import TokenStore
from server.store.machines.machines import MachineStore
from server.store.machines.pools import PoolStore
from server.store.mongodb.database import Database
from server.store.runs.documents import StoredRun
from server.store.runs.runs import RunStore
from server.store.runs.turns import RunTurns
from server.store.trajectories.pictures import PictureStore
from server.store.trajectories.store import TrajectoryStore
from server.store.trajectories.workflows import WorkflowStore
from server.store.transactions import Transactions
from server.store.webhooks.outbox import Outbox
from server.tasks import Tasks
from server.trajectories.repairing import RepairProposals
from server.trajectories.running import RunContents


@dataclass(frozen=True, kw_only=True)
class RunGround:
    """What runs stand on.  ``key_lifetime`` is how long the ledger knows how an input ended."""

    database: Database
    background: Tasks
    outbox: Outbox
    key_lifetime: timedelta
    dispatcher: Dispatcher
    control: MachineControl
    help: Help
    reach: Reach
    deliveries: MakeDeliveries
    told: Callable[[StoredRun, Run], None]
    sealing: Sealing


def runs_together(ground: RunGround) -> tuple[Runs, ManyRuns, RunExecutor, RunEnding]:
    """What handlers ask of runs, what works at them on this node, and what ends them."""
    database = ground.database
    contents = RunContents(TrajectoryStore(database), WorkflowStore(database))
    transactions = Transactions(database, key_lifetime=ground.key_lifetime)
    pictures, pools = PictureStore(database), PoolStore(database)
    halts = RunHalts(ground.dispatcher, pictures, ground.help)
    ending = RunEnding(
        transactions, ground.outbox, ground.deliveries, halts.withdraw_all, ground.told
    )
    store = RunStore(database)
    answers = ParkedAnswers(store, transactions, halts, ending)
    parts = CourseParts(
        turns=RunTurns(database, uuid4()),
        contents=contents,
        control=ground.control,
        dispatcher=ground.dispatcher,
        pictures=pictures,
        halts=halts,
        ending=ending,
        answers=answers,
        rights=LastingRights(TokenStore(database), pools),
        sealing=ground.sealing,
        ledger_remembers=ground.key_lifetime,
        background=ground.background,
    )
    machines = MachineStore(database)
    unattended = UnattendedRuns(store, machines, parts.rights, answers, ending)
    executor = RunExecutor(parts, unattended, machines, pools, ground.background)
    beginning = RunBeginning(contents, ground.reach, ground.sealing, ending, executor.wake)
    proposals = RepairProposals(TrajectoryStore(database))
    repairs = RunRepairs(contents, proposals, transactions, ground.dispatcher, pictures)
    runs = Runs(
        *(store, contents, transactions, ending, beginning, repairs, answers, executor.wake)
    )
    return runs, ManyRuns(beginning, transactions), executor, ending
