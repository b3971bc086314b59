"""How the machines of an index are at this moment, as the database and their links have it."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Set
from heapq import merge
from typing import Final, NamedTuple

from schemas.resources.machine_lists import ShownState
from server.dispatch.live_machines import Troubled, why_unreachable
from server.dispatch.questions.nodes import LiveMachine
from server.fleet.lists.index import ORDERS, Index
from server.fleet.lists.rows import FINE, PAUSED, TROUBLE, URGENCIES, URGENCY
from server.store.machines.documents import LINK_ENDED
from server.store.trajectories.search import folded

CONNECTED: Final = "connected"

LOOKED_AFTER: Final = {"in_trouble": (TROUBLE,), "fine": (PAUSED, FINE)}
"""What machines in several states are called together."""


class Shown(NamedTuple):
    """The state of a machine: ``urgency`` is its place by that, ``reason`` is folded."""

    state: ShownState
    urgency: int
    since: int
    reason: str


class Alike(NamedTuple):
    """Machines in one state for one ``reason``, which is folded; empty where their rows have it."""

    state: ShownState
    urgency: int
    reason: str
    ids: Set[str]


class Moment:
    """Which machines of an index are in which state now.

    Most are as many others are: these are ``alike``, and no list looks at each of them.  ``apart``
    has those of which their links say more.  ``among`` is a part of all machines, None is all.
    """

    def __init__(self, index: Index, troubled: Troubled) -> None:
        self._index = index
        self._apart: dict[str, Shown] = {}
        self._alike = [
            Alike(state, URGENCY.get(state, TROUBLE), "", ids)
            for state, ids in index.by_state.items()
        ]
        here = troubled.here.hex
        of = {node_id.hex: found for node_id, found in troubled.of.items()}
        for node, ids in index.by_node.items():
            if (found := of.get(node)) is None:
                why = folded(why_unreachable(index.node_names[node]))
                self._alike.append(Alike("offline", TROUBLE, why, ids))
                continue
            linked: Set[str] = ids
            if node == here:
                linked = ids & troubled.linked_here
                self._alike.append(Alike("offline", TROUBLE, LINK_ENDED, ids - linked))
            told = {each: _shown(live) for each, live in found.items() if each in linked}
            self._apart |= told
            simply = linked - told.keys() if told else linked
            self._alike.append(Alike("online", FINE, CONNECTED, simply))

    def counts(self, among: Set[str] | None) -> Counter[str]:
        """How many machines are in each state."""
        counts: Counter[str] = Counter(shown.state for _, shown in self._apart_of(among))
        for each in self._alike:
            counts[each.state] += len(_both(each.ids, among))
        return counts

    def in_states(self, states: Set[str], among: Set[str] | None) -> set[str]:
        """The machines that are in one of these states."""
        found = {each for each, shown in self._apart_of(among) if shown.state in states}
        for name in states & LOOKED_AFTER.keys():
            found |= self.of_urgency(LOOKED_AFTER[name], among)
        return found.union(
            *(_both(each.ids, among) for each in self._alike if each.state in states)
        )

    def of_urgency(self, urgencies: Collection[int], among: Set[str] | None) -> set[str]:
        """The machines that somebody should look after so soon."""
        found = {each for each, shown in self._apart_of(among) if shown.urgency in urgencies}
        return found.union(
            *(_both(each.ids, among) for each in self._alike if each.urgency in urgencies)
        )

    def explained_by(self, word: str, among: Set[str] | None) -> set[str]:
        """The machines with this word in the reason for their state that their rows do not have."""
        found = {each for each, shown in self._apart_of(among) if word in shown.reason}
        return found.union(*(_both(each.ids, among) for each in self._alike if word in each.reason))

    def by_urgency(self, among: Set[str] | None) -> Iterator[str]:
        """The machines in trouble, the latest of it first; then all others, by name."""
        for urgency in URGENCIES:
            alike = [_both(each.ids, among) for each in self._alike if each.urgency == urgency]
            apart = [each for each in self._apart_of(among) if each[1].urgency == urgency]
            if urgency == TROUBLE:
                yield from self._latest_first(frozenset().union(*alike), apart)
            else:
                ids = frozenset().union((each for each, _ in apart), *alike)
                yield from filter(ids.__contains__, self._index.in_order("name") if ids else ())

    def _latest_first(self, alike: Set[str], apart: list[tuple[str, Shown]]) -> Iterable[str]:
        ids = filter(alike.__contains__, self._index.in_order("latest") if alike else ())
        if not apart:
            return ids
        rows, latest = self._index.rows, ORDERS["latest"]
        told = sorted(((-shown.since, *ORDERS["name"](rows[each])), each) for each, shown in apart)
        return (each for _, each in merge(((latest(rows[each]), each) for each in ids), told))

    def _apart_of(self, among: Set[str] | None) -> Iterable[tuple[str, Shown]]:
        if among is None:
            return self._apart.items()
        return [each for each in self._apart.items() if each[0] in among]


def _both(ids: Set[str], among: Set[str] | None) -> Set[str]:
    return ids if among is None else ids & among


def _shown(live: LiveMachine) -> Shown:
    urgency = TROUBLE if live.is_dark else URGENCY.get(live.state, TROUBLE)
    return Shown(live.state, urgency, live.since, folded(live.reason))
