"""The long fault run: ``python -m tests.faults``; or other kills, or a rolling restart.

The exit code is 1 where a promise was broken, or where the run was interrupted.
"""

import argparse
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from tests.desktop import virtual_display
from tests.faults.batch_kills import KillPlan
from tests.faults.batch_kills import measure as measure_kills
from tests.faults.node import Nats
from tests.faults.other_desktops import DESKTOPS
from tests.faults.recording_kills import RecordingPlan
from tests.faults.recording_kills import measure as measure_recordings
from tests.faults.replica_set import ReplicaSet
from tests.faults.restarts import RestartPlan, Restarts
from tests.faults.restarts import measure as restarts_measured
from tests.faults.run import Plan, run
from tests.faults.session_kills import SessionPlan
from tests.faults.session_kills import measure as measure_sessions
from tests.faults.takeovers import TakeoverPlan, Takeovers, measure
from tests.faults.verdict import Verdict

MAX_PRINTED = 20
COMMANDS_PER_SECOND = 40.0


def main() -> int:
    """Run, print the table and every broken promise; the exit code."""
    arguments = _arguments()
    # Whoever ends this ends everything that it has started too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    directory = Path(tempfile.mkdtemp(prefix="farhand-faults-"))
    measuring = _run
    if arguments.takeovers:
        measuring = _time_takeovers
    elif arguments.restarts:
        measuring = _restart_all
    elif arguments.batch_kills:
        measuring = _kill_in_batches
    elif arguments.session_kills:
        measuring = _kill_in_sessions
    elif arguments.recording_kills:
        measuring = _kill_in_recordings
    if measuring(arguments, directory):
        shutil.rmtree(directory)
        return 0
    print(f"the logs are kept in {directory}")
    return 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--faults", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument(
        "--commands", type=int, help="how many at least (default: 20 for each fault)"
    )
    parser.add_argument("--seed", type=int, help="chooses faults and commands (default: random)")
    parser.add_argument(
        "--commands-per-second",
        type=float,
        help="new ones (default: 40; for --restarts 200)",
    )
    parser.add_argument(
        "--nodes", type=int, choices=range(1, 10), default=1, metavar="N", help="servers at once"
    )
    parser.add_argument(
        "--desktop",
        choices=DESKTOPS,
        default="x11",
        help="what machines are on (default: x11); on another only they are struck",
    )
    parser.add_argument(
        "--takeovers",
        type=int,
        default=0,
        metavar="N",
        help="instead, kill a server of three so often, and time how soon others have its machines",
    )
    parser.add_argument(
        "--restarts",
        type=int,
        default=0,
        metavar="N",
        help="instead, restart each of three servers so often, in turn, and see who notices",
    )
    parser.add_argument(
        "--batch-kills",
        type=int,
        default=0,
        metavar="N",
        help="instead, kill server or machine client so often in the middle of several actions",
    )
    parser.add_argument(
        "--session-kills",
        type=int,
        default=0,
        metavar="N",
        help="instead, kill program, node or machine client so often in the middle of a session",
    )
    parser.add_argument(
        "--recording-kills",
        type=int,
        default=0,
        metavar="N",
        help="instead, record so often, and kill one of all processes under each recording",
    )
    parser.add_argument(
        "--machines",
        type=int,
        help="for --takeovers and --restarts: how many (default: 200 and 500)",
    )
    return parser.parse_args()


def _run(arguments: argparse.Namespace, directory: Path) -> bool:
    seed = _seed(arguments)
    commands = 20 * arguments.faults if arguments.commands is None else arguments.commands
    plan = Plan(
        arguments.faults,
        seed,
        commands,
        arguments.commands_per_second or COMMANDS_PER_SECOND,
        nodes=arguments.nodes,
        desktop=arguments.desktop,
    )
    _say(f"seed {seed}: {plan.faults} faults, {commands} commands; logs in {directory}")
    verdict = run(plan, directory, _say)
    _print_verdict(verdict)
    return verdict.is_good and len(verdict.evidence.faults) >= plan.faults


def _seed(arguments: argparse.Namespace) -> int:
    return random.randrange(1_000_000) if arguments.seed is None else int(arguments.seed)


def _kill_in_batches(arguments: argparse.Namespace, directory: Path) -> bool:
    plan = KillPlan(arguments.batch_kills, _seed(arguments))
    _say(f"seed {plan.seed}: {plan.kills} kills; logs in {directory}")
    with ReplicaSet.running(directory / "mongodb", members=1) as mongodb, virtual_display() as name:
        kills = measure_kills(plan, directory, mongodb.uri, name, _say)
    for violation in kills.wrong[:MAX_PRINTED]:
        print(f"{violation.broken}: {violation.detail}")
    _say(kills.table())
    return not kills.wrong and kills.kills.total() == plan.kills


def _kill_in_sessions(arguments: argparse.Namespace, directory: Path) -> bool:
    plan = SessionPlan(arguments.session_kills, _seed(arguments))
    _say(f"seed {plan.seed}: {plan.kills} kills; logs in {directory}")
    with (
        ReplicaSet.running(directory / "mongodb", members=1) as mongodb,
        Nats.running(directory) as nats,
        virtual_display() as name,
    ):
        kills = measure_sessions(plan, directory, mongodb.uri, nats.url, name, _say)
    for violation in kills.wrong[:MAX_PRINTED]:
        print(f"{violation.broken}: {violation.detail}")
    _say(kills.table())
    return not kills.wrong and kills.kills.total() == plan.kills


def _kill_in_recordings(arguments: argparse.Namespace, directory: Path) -> bool:
    plan = RecordingPlan(arguments.recording_kills, _seed(arguments))
    _say(f"seed {plan.seed}: {plan.recordings} recordings; logs in {directory}")
    kills = measure_recordings(plan, directory, _say)
    _say(kills.table())
    return not kills.wrong and kills.recordings == plan.recordings


def _time_takeovers(arguments: argparse.Namespace, directory: Path) -> bool:
    plan = TakeoverPlan(arguments.takeovers, arguments.machines or TakeoverPlan.machines)
    _say(f"{plan.kills} kills, {plan.machines} machines; logs in {directory}")
    return _told(measure(plan, directory, _say))


def _restart_all(arguments: argparse.Namespace, directory: Path) -> bool:
    plan = RestartPlan(
        arguments.restarts,
        arguments.machines or RestartPlan.machines,
        arguments.commands_per_second or RestartPlan.rate,
    )
    _say(
        f"{plan.rounds} rounds, {plan.machines} machines, {plan.rate:g} inputs a second; "
        f"logs in {directory}"
    )
    restarts = restarts_measured(plan, directory, _say)
    return _told(restarts) and restarts.lost_machines == 0


def _told(measured: Takeovers | Restarts) -> bool:
    wrong = measured.wrong()
    for name, moves in wrong.items():
        for move in moves[:MAX_PRINTED]:
            print(f"{name}: {move}")
    _say(measured.table())
    return not any(wrong.values())


def _say(text: str) -> None:
    print(text, flush=True)


def _print_verdict(verdict: Verdict) -> None:
    for violation in verdict.violations[:MAX_PRINTED]:
        print(verdict.described(violation), end="\n\n")
    if len(verdict.violations) > MAX_PRINTED:
        print(f"and {len(verdict.violations) - MAX_PRINTED} more\n")
    print(verdict.table(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
