"""Answers what a list of machines is asked: which fit, in which order, how many of each state."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from schemas.resources.machine_lists import MachineFilter, MachineSort, StateCounts
from server.fleet.lists.rows import TROUBLE, URGENCIES, LiveStates, Row, Shown
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
    counts: StateCounts | None


def answered(
    rows: Iterable[Row],
    states: LiveStates,
    wanted: MachineFilter,
    pools: frozenset[UUID] | None,
    sort: MachineSort,
    *,
    counts: bool = True,
) -> Found:
    """The rows that fit; they come in their `held_order`.

    ``pools`` are those that ``wanted`` names.  Where states are neither asked for nor counted,
    nobody looks at them.
    """
    fitting, told = _fitting(rows, wanted, pools), None
    is_by_state = sort.removeprefix("-") == "state"
    if is_by_state or counts or wanted.state is not None or wanted.search is not None:
        shown = states.of(fitting)
        for word in folded(wanted.search or "").split():
            shown = [each for each in shown if word in each[0].text or word in each[1].reason]
        if counts:
            told = _told(Counter(state.state for _, state in shown))
        if (chosen := wanted.state) is not None:
            if "offline" in chosen:
                chosen |= {"not_set_up"}
            shown = [each for each in shown if each[1].state in chosen]
        if is_by_state:
            shown = _by_urgency(shown)
        fitting = [row for row, _ in shown]
    ids = [row.id for row in fitting]
    return Found(ids[::-1] if sort.startswith("-") else ids, told)


def _fitting(
    rows: Iterable[Row], wanted: MachineFilter, pools: frozenset[UUID] | None
) -> Iterable[Row]:
    """Those that fit what does not change with the moment."""
    if pools is not None:
        ids = {each.bytes for each in pools}
        rows = [row for row in rows if not ids.isdisjoint(row.pools)]
    if (tags := wanted.tag) is not None:
        rows = [row for row in rows if not tags.isdisjoint(row.tags)]
    if (versions := wanted.version) is not None:
        rows = [row for row in rows if row.version in versions]
    return rows


def _told(counts: Counter[str]) -> StateCounts:
    counts["offline"] += counts["not_set_up"]
    return StateCounts.model_validate({name: counts[name] for name in StateCounts.model_fields})


def _by_urgency(shown: Iterable[tuple[Row, Shown]]) -> list[tuple[Row, Shown]]:
    groups: list[list[tuple[Row, Shown]]] = [[] for _ in URGENCIES]
    for each in shown:
        groups[each[1].urgency].append(each)
    groups[TROUBLE].sort(key=lambda each: -each[1].since)
    return [each for group in groups for each in group]
