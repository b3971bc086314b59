"""One fault run: everything is started, disturbed while commands are sent, and judged."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.faults.fault_schedule import FaultSchedule
from tests.faults.history import Clock
from tests.faults.judge import judge
from tests.faults.load import Load
from tests.faults.other_desktops import DesktopName
from tests.faults.verdict import Evidence, Verdict
from tests.faults.world import World

RESOLVED_SECONDS = 30.0
"""How long after the last fault a key may stay without its final answer."""

WITHOUT_KEY = 0.2
"""Of the commands to several nodes, which one node may forward to another once at most."""

PROGRESS_SECONDS = 10.0


@dataclass(frozen=True)
class Plan:
    """How long and how hard a run is; ``pause`` is the least and most seconds between faults.

    It goes on until there are as many faults and as many commands as these.  ``nodes`` is how many
    servers there are at the same time, and ``desktop`` what the machines are on: on another one
    than X11 nothing but machine clients, their links and their desktops are disturbed.
    """

    faults: int
    seed: int
    commands: int = 0
    commands_per_second: float = 30.0
    pause: tuple[float, float] = (0.8, 1.5)
    nodes: int = 1
    desktop: DesktopName = "x11"


def run(plan: Plan, directory: Path, say: Callable[[str], None] = print) -> Verdict:
    """Do it all, with every program's files and logs in a directory; the verdict."""
    clock = Clock()
    with World.running(directory, clock, nodes=plan.nodes, desktop=plan.desktop) as world:
        load = Load(
            seed=plan.seed,
            machines=[machine.name for machine in world.machines],
            ports=world.ports,
            token=world.token,
            clock=clock,
            rate=plan.commands_per_second,
            without_key=WITHOUT_KEY if plan.nodes > 1 else 0.0,
            # The witness of copied texts is one of X.
            copies=plan.desktop == "x11",
            with_field=[each.name for each in world.machines if each.desktop.has_field],
        )
        schedule = FaultSchedule(world, plan.seed, of_machines=plan.desktop != "x11")
        load.start()
        try:
            try:
                _inject_faults(plan, schedule, load, clock, say)
            except KeyboardInterrupt:
                say("interrupted: what was done so far is judged")
            schedule.finish()
            load.stop()
            over_at = max((fault.ended_at or 0.0 for fault in schedule.faults), default=clock())
            load.wait(over_at + RESOLVED_SECONDS - clock())
            waited = clock() - over_at
            say(f"{clock():6.0f} s: clients are content {waited:.1f} s after the last fault")
        finally:
            load.close()
            schedule.close()
        evidence = _evidence(world, load, schedule)
    (directory / "faults.log").write_text("".join(f"{fault}\n" for fault in evidence.faults))
    return judge(evidence)


def _evidence(world: World, load: Load, schedule: FaultSchedule) -> Evidence:
    """Everything that is known once nothing happens any more; ends servers and machine clients."""
    world.stop()
    held = {machine.name: machine.desktop.held() for machine in world.machines}
    arrivals = {machine.name: machine.desktop.arrivals() for machine in world.machines}
    copies = {machine.name: machine.desktop.copies() for machine in world.machines}
    organization_id, ledger = world.ledger()
    return Evidence(
        organization_id=organization_id,
        commands=load.commands,
        faults=sorted(schedule.faults, key=lambda fault: fault.began_at),
        arrivals=arrivals,
        copies=copies,
        hands=world.hands,
        held=held,
        journals=world.journals(),
        ledger=ledger,
        journal_losses=world.journal_losses,
        ends=world.ends(),
        is_of_start={machine.name: machine.desktop.is_of_start for machine in world.machines},
    )


def _inject_faults(
    plan: Plan, schedule: FaultSchedule, load: Load, clock: Clock, say: Callable[[str], None]
) -> None:
    rng = random.Random(plan.seed)
    say_at = clock()
    while len(schedule.faults) < plan.faults or len(load.commands) < plan.commands:
        if clock() >= say_at:
            say_at += PROGRESS_SECONDS
            say(
                f"{clock():6.0f} s: {len(schedule.faults)} faults, {len(load.commands)} commands, "
                f"{load.requests} requests"
            )
        time.sleep(rng.uniform(*plan.pause))
        schedule.inject()
