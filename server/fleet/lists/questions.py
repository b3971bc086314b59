"""Answers what a list of machines is asked: which fit, in which order, how many of each state."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from schemas.resources.machine_lists import MachineFilter, MachineSort, StateCounts
from server.fleet.lists.rows import TROUBLE, LiveStates, Row, Shown
from server.store.trajectories.search import folded

ORDERS: Final[dict[str, Callable[[Row], Any]]] = {
    "id": lambda row: row.id,
    "name": lambda row: (row.name_order, row.id),
    "created_at": lambda row: (row.created_at, row.id),
    "version": lambda row: (row.version_order, row.id),
}
"""What rows are sorted by that does not change with the moment."""


def held_order(sort: MachineSort) -> str:
    """The one of these orders in which rows come to be found."""
    field = sort.removeprefix("-")
    # Machines in the same state are by name, so that they stay in their places.
    return field if field in ORDERS else "name"


@dataclass(frozen=True)
class Found:
    """The ids of the machines that fit, in order, and how many of each state fit all else."""

    ids: Sequence[str]
    counts: StateCounts


def answered(
    rows: Iterable[Row],
    states: LiveStates,
    wanted: MachineFilter,
    pools: frozenset[UUID] | None,
    sort: MachineSort,
) -> Found:
    """The rows that fit; they come in their `held_order`.

    ``pools`` are those that ``wanted`` names.
    """
    words = folded(wanted.search or "").split()
    fitting = _fitting(rows, wanted, pools)
    shown = [(row, states.of(row)) for row in fitting]
    if words:
        shown = [each for each in shown if _has(each, words)]
    counts = Counter[str](state.state for _, state in shown)
    if wanted.state is not None:
        chosen = wanted.state | ({"not_set_up"} if "offline" in wanted.state else frozenset())
        shown = [each for each in shown if each[1].state in chosen]
    if sort.removeprefix("-") == "state":
        shown.sort(key=_by_urgency)
    if sort.startswith("-"):
        shown.reverse()
    return Found([row.id for row, _ in shown], _told(counts))


def _fitting(
    rows: Iterable[Row], wanted: MachineFilter, pools: frozenset[UUID] | None
) -> Iterable[Row]:
    """Those that fit what does not change with the moment."""
    if pools is not None:
        rows = [row for row in rows if not pools.isdisjoint(row.pools)]
    if (tags := wanted.tag) is not None:
        rows = [row for row in rows if not tags.isdisjoint(row.tags)]
    if (versions := wanted.version) is not None:
        rows = [row for row in rows if row.version in versions]
    return rows


def _has(shown: tuple[Row, Shown], words: Sequence[str]) -> bool:
    text, reason = shown[0].text, shown[1].reason
    return all(word in text or word in reason for word in words)


def _told(counts: Counter[str]) -> StateCounts:
    counts["offline"] += counts["not_set_up"]
    return StateCounts.model_validate({name: counts[name] for name in StateCounts.model_fields})


def _by_urgency(shown: tuple[Row, Shown]) -> tuple[int, int]:
    state = shown[1]
    return state.urgency, -state.since if state.urgency == TROUBLE else 0
