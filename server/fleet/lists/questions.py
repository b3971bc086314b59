"""Answers what a list of machines is asked: which fit, in which order, how many of each state."""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from schemas.resources.machine_lists import MachineFilter, MachineSort, StateCounts
from server.fleet.lists.index import Index
from server.fleet.lists.moment import Moment
from server.store.trajectories.search import folded
from server.versions import is_outdated


@dataclass(frozen=True)
class Found:
    """The ids of a page of the machines that fit, in order; how many fit, and of each state."""

    ids: Sequence[str]
    total: int
    counts: StateCounts | None


@dataclass(frozen=True)
class Window:
    """Which of all that fits is wanted: all, unless it says less."""

    skip: int = 0
    limit: int | None = None


EVERYTHING = Window()


def asks_for_states(wanted: MachineFilter, sort: MachineSort, *, counts: bool) -> bool:
    """Whether anybody has to know how machines are at the moment."""
    is_by_state = sort.removeprefix("-") == "state"
    return is_by_state or counts or wanted.state is not None or wanted.search is not None


def answered(
    index: Index,
    moment: Moment | None,
    wanted: MachineFilter,
    pools: frozenset[UUID] | None,
    sort: MachineSort,
    window: Window = EVERYTHING,
    *,
    counts: bool = False,
    within: frozenset[UUID] | None = None,
) -> Found:
    """A page of the machines that fit, with the exact total.

    ``pools`` are those that ``wanted`` names, and ``within`` those outside of which nothing fits.
    ``moment`` is wanted where the question `asks_for_states`.
    """
    fitting, told = _fitting(index, wanted, pools, within), None
    if moment is not None:
        fitting = _searched(index, moment, wanted.search, fitting)
        if counts:
            told = _told(moment.counts(fitting))
        if (chosen := wanted.state) is not None:
            if "offline" in chosen:
                chosen |= {"not_set_up"}
            fitting = moment.in_states(chosen, fitting)
    total = len(index.rows) if fitting is None else len(fitting)
    field = sort.removeprefix("-")
    if field == "state" and moment is not None:
        ordered: Iterable[str] = moment.by_urgency(fitting)
    else:
        order = index.in_order(field)
        ordered = order if fitting is None else filter(fitting.__contains__, order)
    return Found(_page(ordered, total, window, is_downwards=sort != field), total, told)


def _fitting(
    index: Index,
    wanted: MachineFilter,
    pools: frozenset[UUID] | None,
    within: frozenset[UUID] | None,
) -> Set[str] | None:
    """Those that fit what does not change with the moment; None is all."""
    parts = [index.in_pools(each) for each in (pools, within) if each is not None]
    if wanted.tag is not None:
        parts.append(index.by_tag.any_of(wanted.tag))
    if wanted.version is not None:
        parts.append(index.by_version.any_of(wanted.version))
    if wanted.outdated is not None:
        outdated = index.by_version.any_of(filter(is_outdated, index.by_version))
        parts.append(outdated if wanted.outdated else index.rows.keys() - outdated)
    return set.intersection(*sorted(parts, key=len)) if parts else None


def _searched(
    index: Index, moment: Moment, search: str | None, among: Set[str] | None
) -> Set[str] | None:
    """Those of which each word is somewhere in the texts or in the reason for the state."""
    rows = index.rows
    # A long word is in few of them, and the next words are looked for in these alone.
    for word in sorted(folded(search or "").split(), key=len, reverse=True):
        looked_at = rows.values() if among is None else [rows[each] for each in among]
        found = {row.id for row in looked_at if word in row.text}
        among = found | moment.explained_by(word, among)
    return among


def _told(counts: Counter[str]) -> StateCounts:
    counts["offline"] += counts["not_set_up"]
    return StateCounts.model_validate({name: counts[name] for name in StateCounts.model_fields})


def _page(ordered: Iterable[str], total: int, window: Window, *, is_downwards: bool) -> list[str]:
    """A part of what is in order, upwards or downwards; nobody looks at what comes behind it."""
    first = min(window.skip, total)
    behind = total if window.limit is None else min(first + window.limit, total)
    if not is_downwards:
        return list(islice(ordered, first, behind))
    return list(islice(ordered, total - behind, total - first))[::-1]
