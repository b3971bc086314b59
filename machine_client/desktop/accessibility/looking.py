"""Questions about elements, as calls on the bus: what fits, where it is, whether it is there."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from machine_client.desktop.accessibility.bus import REGISTRY, ROOT, Calls
from machine_client.desktop.accessibility.details import read_again, read_bounds, read_values
from machine_client.desktop.accessibility.nodes import Node
from machine_client.desktop.accessibility.programs import ACCESSIBLE, Program, read_programs
from machine_client.desktop.accessibility.search import Search, without_parts
from machine_client.desktop.accessibility.windows import MENU_ITEMS
from schemas.inputs.selectors import Sought

MOST_CANDIDATES: Final = 64
"""Of which it is looked where they are: who means so many means none."""

MOST_VALUES: Final = 2000

OPEN_MENUS: Final = frozenset({"popup menu", "tool tip"})
"""What is there only while it is open."""


class Seen(NamedTuple):
    """An element, and the program that shows it."""

    program: Program
    node: Node


async def nothing(calls: Calls) -> None:
    """Find out whether the bus answers."""
    await calls.call(REGISTRY, ROOT, ACCESSIBLE, "GetChildren")


async def all_fitting(
    calls: Calls, search: Search, *, pid: int | None = None
) -> tuple[list[Program], list[Seen]]:
    """All that can be seen and fits, of one process or all, each before what is in it."""
    programs = await read_programs(calls, search, pid=pid)
    found = [
        Seen(program, node)
        for program in programs
        for window in program.windows
        for node in window.walk()
        if search.may_fit(node) and node.is_showing
    ]
    if search.needs_values:
        await read_values(calls, [each.node for each in found[:MOST_VALUES]])
        found = [each for each in found if search.fits(each.node)]
    return programs, found


async def candidates(calls: Calls, search: Search) -> tuple[list[Program], list[Seen]]:
    """The elements that can be meant, with where they are and what they are in."""
    programs, found = await all_fitting(calls, search)
    # Of what is known in part alone nothing is the only one.
    found = [each for each in found if not each.program.is_late]
    whole = {id(node) for node in without_parts([each.node for each in found])}
    found = [each for each in found if id(each.node) in whole]
    if len(found) > MOST_CANDIDATES:
        return programs, found
    await read_places(calls, found)
    return programs, [each for each in found if is_somewhere(each.node)]


async def read_details(calls: Calls, seen: Sequence[Seen]) -> None:
    """Fill in the values."""
    await read_values(calls, [each.node for each in seen if each.node.value is None])


async def read_places(calls: Calls, seen: Iterable[Seen], *, relative: bool = False) -> None:
    """Fill in where elements are and all that they are in, by their programs' measure."""
    around = {id(node): node for each in seen for node in (each.node, *each.node.ancestors)}
    wanted = [node for node in around.values() if relative or node.bounds is None]
    await read_bounds(calls, wanted, relative=relative)


async def why_menu(calls: Calls, *, process: int, windows: int) -> str | None:
    """Why a process with so many windows may have a menu open; None where it has none."""
    programs = await read_programs(calls, Search(Sought(role="menu item")), pid=process)
    own = [each for each in programs if each.pid == process]
    if not own or any(each.is_silent or each.is_cut for each in own):
        return (
            "the program with the keyboard does not tell whether it has a menu open; click into "
            "the element's own window first"
        )
    shown = [window for program in own for window in program.windows]
    is_open = len(shown) > windows or any(
        _is_open_menu(node) for window in shown for node in window.walk() if node.is_showing
    )
    return f"{own[0].title or 'a program'} has a menu open; close it first" if is_open else None


def _is_open_menu(node: Node) -> bool:
    """Whether a node that is showing is a menu, or in one: a menu bar is always there."""
    if node.role in OPEN_MENUS:
        return True
    return node.role in MENU_ITEMS and node.parent is not None and node.parent.role != "menu bar"


async def is_still_there(calls: Calls, seen: Seen) -> bool:
    """Whether an element is what it was and can be seen; its place and states are new then."""
    around = [seen.node, *seen.node.ancestors]
    is_same, _ = await asyncio.gather(
        read_again(calls, seen.node), read_bounds(calls, around, relative=False)
    )
    seen.node.states = seen.program.states_seen(seen.node.states)
    return is_same and seen.node.is_showing and is_somewhere(seen.node)


def is_somewhere(node: Node) -> bool:
    """Whether it and all that it is in have a place: lists that are closed have none."""
    return all(each.bounds is not None for each in (node, *node.ancestors))
