"""What is killed while runs are at work, and whether it is up."""

import random
from enum import StrEnum
from typing import Final

from tests.faults.supervised_process import SupervisedProcess
from tests.faults.world import World
from tests.run_kills.desk import Desk


class Victim(StrEnum):
    """What is killed."""

    CLIENT = "machine client"
    NODE = "node"
    PRIMARY = "MongoDB's primary"
    NATS = "NATS"
    FORM = "application"


OWN: Final = (Victim.CLIENT, Victim.FORM)
"""What every machine has of its own."""

WEIGHTS: Final = {
    Victim.CLIENT: 4,
    Victim.NODE: 1,
    Victim.PRIMARY: 1,
    Victim.NATS: 2,
    Victim.FORM: 4,
}
"""Nodes and members take seconds to come back, and stop many runs at once."""


def is_up(victim: Victim, world: World, desk: Desk) -> bool:
    """Whether all of it that there is works, and can be killed."""
    match victim:
        case Victim.CLIENT | Victim.FORM:
            return desk.client.runs and desk.form.runs
        case Victim.NODE:
            return all(node.process.runs for node in world.nodes)
        case Victim.PRIMARY:
            return world.replica_set.is_whole()
    return nats_of(world).runs


def process_of(victim: Victim, world: World, desk: Desk, rng: random.Random) -> SupervisedProcess:
    """The process to be killed; of the nodes any."""
    match victim:
        case Victim.CLIENT:
            return desk.client
        case Victim.FORM:
            return desk.form
        case Victim.NODE:
            return rng.choice(world.nodes).process
        case Victim.NATS:
            return nats_of(world)
    return (world.replica_set.primary() or world.replica_set.members[0]).process


def nats_of(world: World) -> SupervisedProcess:
    """NATS, which two nodes have."""
    assert world.nats is not None
    return world.nats.process
