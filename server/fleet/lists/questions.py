"""Answers what a list of machines is asked: which fit, in which order, how many of each state."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from uuid import UUID

from schemas.resources.machine_lists import (
    MOST_COUNTED,
    MachineFilter,
    MachineSort,
    StateCounts,
)
from server.fleet.lists.index import Files, Index
from server.fleet.lists.moment import LOOKED_AFTER, Moment
from server.store.trajectories.search import folded
from server.versions import is_outdated


@dataclass(frozen=True)
class Counts:
    """How many machines are in each state, have each tag, and are in each pool, by its id."""

    states: StateCounts
    tags: Mapping[str, int]
    pools: Mapping[str, int]


@dataclass(frozen=True)
class Found:
    """The ids of a page of the machines that fit, in order; how many fit, and of each kind."""

    ids: Sequence[str]
    total: int
    counts: Counts | None


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
    fitting, told = _searched(index, moment, wanted, pools, within), None
    if counts and moment is not None:
        told = _counts(index, moment, fitting, wanted, pools, within)
    if moment is not None:
        fitting = _in_states(moment, wanted, fitting)
    total = len(index.rows) if fitting is None else len(fitting)
    field = sort.removeprefix("-")
    if field == "state" and moment is not None:
        ordered: Iterable[str] = moment.by_urgency(fitting)
    else:
        order = index.in_order(field)
        ordered = order if fitting is None else filter(fitting.__contains__, order)
    return Found(_page(ordered, total, window, is_downwards=sort != field), total, told)


def _counts(
    index: Index,
    moment: Moment,
    searched: Set[str] | None,
    wanted: MachineFilter,
    pools: frozenset[UUID] | None,
    within: frozenset[UUID] | None,
) -> Counts:
    """What is counted of the machines that fit, each by all filters but its own."""
    states = moment.counts(searched)
    states["offline"] += states["not_set_up"]
    for name, urgencies in LOOKED_AFTER.items():
        states[name] = len(moment.of_urgency(urgencies, searched))
    outdated = index.by_version.any_of(filter(is_outdated, index.by_version))
    states["outdated"] = len(outdated if searched is None else outdated & searched)
    of_tags = of_pools = searched
    if wanted.tag is not None:
        of_tags = _searched(index, moment, wanted.model_copy(update={"tag": None}), pools, within)
    if pools is not None:
        of_pools = _searched(index, moment, wanted, None, within)
    shown = index.by_pool if within is None else {each.hex for each in within}
    return Counts(
        StateCounts.model_validate({name: states[name] for name in StateCounts.model_fields}),
        _most(index.by_tag, _in_states(moment, wanted, of_tags), index.by_tag, wanted.tag or ()),
        _most(
            index.by_pool,
            _in_states(moment, wanted, of_pools),
            shown,
            {each.hex for each in pools or ()},
        ),
    )


def _most(
    files: Files[str], among: Set[str] | None, shown: Collection[str], named: Collection[str]
) -> dict[str, int]:
    """How many machines have each value: of those that most have, and of those that are named."""
    counts = {
        value: len(ids) if among is None else len(ids & among)
        for value, ids in files.items()
        if value in shown
    }
    most = nsmallest(
        MOST_COUNTED, filter(counts.get, counts), key=lambda each: (-counts[each], each)
    )
    return {value: counts.get(value, 0) for value in dict.fromkeys((*most, *sorted(named)))}


def _in_states(moment: Moment, wanted: MachineFilter, among: Set[str] | None) -> Set[str] | None:
    """Those that are in the states that are wanted."""
    if (chosen := wanted.state) is None:
        return among
    if "offline" in chosen:
        chosen |= {"not_set_up"}
    return moment.in_states(chosen, among)


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
    index: Index,
    moment: Moment | None,
    wanted: MachineFilter,
    pools: frozenset[UUID] | None,
    within: frozenset[UUID] | None,
) -> Set[str] | None:
    """Those that fit all but the state: each word is in the texts, or says why they are so."""
    among, rows = _fitting(index, wanted, pools, within), index.rows
    if moment is None:
        return among
    # A long word is in few of them, and the next words are looked for in these alone.
    for word in sorted(folded(wanted.search or "").split(), key=len, reverse=True):
        looked_at = rows.values() if among is None else [rows[each] for each in among]
        found = {row.id for row in looked_at if word in row.text}
        among = found | moment.explained_by(word, among)
    return among


def _page(ordered: Iterable[str], total: int, window: Window, *, is_downwards: bool) -> list[str]:
    """A part of what is in order, upwards or downwards; nobody looks at what comes behind it."""
    first = min(window.skip, total)
    behind = total if window.limit is None else min(first + window.limit, total)
    if not is_downwards:
        return list(islice(ordered, first, behind))
    return list(islice(ordered, total - behind, total - first))[::-1]
