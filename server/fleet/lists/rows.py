"""What a list of machines has of each: as little as its filters and its order need."""

import sys
from dataclasses import dataclass
from typing import Final

from schemas.resources.machine_lists import ShownState
from server.clock import milliseconds
from server.store.machines.documents import Machine as StoredMachine
from server.store.trajectories.search import folded, name_order

TROUBLE, PAUSED, FINE, NOT_SET_UP = URGENCIES = range(4)
"""How soon somebody should look after a machine."""

URGENCY: Final[dict[str, int]] = {"paused": PAUSED, "online": FINE, "not_set_up": NOT_SET_UP}
"""Of each state, unless its screen should be seen and cannot; every other is trouble."""


@dataclass(frozen=True, slots=True)
class Row:
    """A machine in a list.

    ``node`` is where its link is, as far as the database knows, unless it is paused; then and
    without a link it is in the ``state`` that is stored, however its link is.  ``text`` is what is
    searched, why it is in a stored state as well.  Nodes and pools are their ids in hexadecimal:
    texts are compared in a tenth of the time, and what many machines have is in memory once.
    """

    id: str
    name_order: str
    version_order: str
    version: str | None
    created_at: int
    since: int
    tags: tuple[str, ...]
    pools: tuple[str, ...]
    text: str
    state: ShownState
    node: str | None
    node_name: str


def row_of(machine: StoredMachine) -> Row:
    """What a list has of a machine."""
    version = None if machine.client is None else machine.client.client_version
    link = machine.link if machine.is_linked and not machine.paused else None
    tags = tuple(sys.intern(each) for each in machine.labels.tags)
    state, why = _stored(machine)
    return Row(
        id=machine.machine_id,
        name_order=name_order(machine.name),
        version_order=sys.intern(name_order(version)),
        version=None if version is None else sys.intern(version),
        created_at=milliseconds(machine.created_at),
        since=milliseconds(machine.state_since),
        tags=tags,
        pools=tuple(sys.intern(each.hex) for each in machine.labels.pools),
        text=folded("\n".join((machine.machine_id, machine.name, *tags, why))),
        state=state,
        node=None if link is None else sys.intern(link.node_id.hex),
        node_name="" if link is None else sys.intern(link.node_name),
    )


def _stored(machine: StoredMachine) -> tuple[ShownState, str]:
    """The state that is stored of a machine, and why; of one with a link, its link says why."""
    if machine.paused:
        return "paused", machine.why_paused
    if machine.is_linked:
        return "online", ""
    return "not_set_up" if machine.client is None else "offline", machine.why_offline
