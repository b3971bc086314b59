"""Reads what a program shows: its windows, and the tree of each, as quickly as it lets itself.

GTK keeps the whole tree ready and gives it in one answer; what that lacks, and everything of other
toolkits, is read element by element, many at once.  Nothing that is hidden is followed, nor what is
in a password field.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from machine_client.desktop.accessibility.bus import (
    REGISTRY,
    ROOT,
    CallRefusedError,
    Calls,
    SilentProgramError,
    unpacked,
)
from machine_client.desktop.accessibility.nodes import NAME_CHARACTERS, Address, Node, states_of
from machine_client.desktop.accessibility.search import Search
from schemas.inputs.selectors import Sought

ACCESSIBLE: Final = "org.a11y.atspi.Accessible"
PROPERTIES: Final = "org.freedesktop.DBus.Properties"
DAEMON: Final = "org.freedesktop.DBus"
CACHE_ITEM_SIZE: Final = 10

PROGRAM_SECONDS: Final = 2.0
"""For all that a program shows."""

MOST_PROGRAMS: Final = 64
MOST_WINDOWS: Final = 64
MOST_NODES: Final = 6000
"""Of one program; what it has beyond is not looked at, and whoever asks is told."""

MOST_CHILDREN: Final = 2000
"""Of one element: a table of a million rows is not read."""

_EVERYTHING: Final = Search(Sought())
_SHOWING_BITS: Final = 1 << 25
_VISIBLE_BITS: Final = 1 << 30


@dataclass(slots=True)
class Program:
    """What one program shows; ``is_cut`` is that it shows more, ``is_silent`` that it is stuck.

    One that ``is_late`` shows so much that there was no time to read it: any part may be missing.
    """

    name: str
    title: str = ""
    pid: int = 0
    windows: list[Node] = field(default_factory=list)
    is_cut: bool = False
    is_silent: bool = False
    is_late: bool = False
    is_gtk4: bool = False

    @property
    def knows_no_screen(self) -> bool:
        """Whether it tells of places from its window's corner alone."""
        return self.is_gtk4

    def states_seen(self, states: int) -> int:
        """AT-SPI's bits, as other toolkits would have them: GTK 4 calls visible what shows."""
        if self.is_gtk4 and states & _VISIBLE_BITS:
            return states | _SHOWING_BITS
        return states


async def read_programs(calls: Calls, search: Search, *, pid: int | None = None) -> list[Program]:
    """All programs, or those of a process, each with what it shows where that can be meant."""
    try:
        names = [
            str(name) for name, _path in await calls.call(REGISTRY, ROOT, ACCESSIBLE, "GetChildren")
        ]
    except (CallRefusedError, SilentProgramError):
        return []
    different = [*dict.fromkeys(names)]
    return list(
        await asyncio.gather(
            *(
                _Reader(calls, search, name, pid).read()
                for name in different[:MOST_PROGRAMS]
                if search.on_bus(name)
            )
        )
    )


class _Reader:
    """Reads one program."""

    def __init__(self, calls: Calls, search: Search, name: str, pid: int | None) -> None:
        self._calls = calls
        self._wanted_pid = pid
        self._search = search
        self._program = Program(name)
        self._nodes = 0

    async def read(self) -> Program:
        """What it shows."""
        program = self._program
        try:
            await self._introduce()
            if self._search.in_application(program.title) and self._wanted_pid in (
                None,
                program.pid,
            ):
                await asyncio.wait_for(self._read_windows(), PROGRAM_SECONDS)
        except TimeoutError:
            program.is_cut = program.is_late = True
        except SilentProgramError:
            program.is_silent, program.windows = True, []
        except CallRefusedError:
            program.windows = []  # It has ended meanwhile.
        return program

    async def _introduce(self) -> None:
        program, root = self._program, Address(self._program.name, ROOT)
        title, toolkit, version, pid = await asyncio.gather(
            self._get(root, ACCESSIBLE, "Name"),
            self._get(root, "org.a11y.atspi.Application", "ToolkitName"),
            self._get(root, "org.a11y.atspi.Application", "Version"),
            self._pid(),
        )
        program.title, program.pid = _text(title), pid
        program.is_gtk4 = str(toolkit).upper() == "GTK" and str(version).startswith("4")

    async def _pid(self) -> int:
        try:
            return int(
                await self._calls.call(
                    DAEMON,
                    "/org/freedesktop/DBus",
                    DAEMON,
                    "GetConnectionUnixProcessID",
                    "s",
                    self._program.name,
                )
            )
        except CallRefusedError:
            return 0

    async def _read_windows(self) -> None:
        children = await self._children(Address(self._program.name, ROOT))
        windows = await self._described(children[:MOST_WINDOWS], None)
        wanted = [
            window
            for window in windows
            if window.has("showing") and self._search.in_window(window.name)
        ]
        if not wanted:
            return
        known = await self._kept_ready()
        for window in wanted:
            if (kept := known.get(window.address)) is not None:
                window.child_count, window.children = kept.child_count, kept.children
                for child in window.children:
                    child.parent = window
        # What is read of them until there is no more time is told all the same.
        self._program.windows = wanted
        await asyncio.gather(
            *(self._complete(window, is_known=window.address in known) for window in wanted)
        )

    async def _complete(self, node: Node, *, is_known: bool) -> None:
        """Read what is below a node, as far as it is not known already."""
        unknown: list[Node] = []
        waiting = [node]
        while waiting:
            each = waiting.pop()
            if each.is_whole or (each.parent is not None and not each.is_showing):
                each.children = []
                continue
            if is_known and len(each.children) == each.child_count:
                self._nodes += len(each.children)
                waiting.extend(each.children)
            else:
                unknown.append(each)
        await asyncio.gather(*(self._read_below(each) for each in unknown))

    async def _read_below(self, node: Node) -> None:
        node.children = []
        if self._nodes >= MOST_NODES:
            self._program.is_cut = True
            return
        children = await self._children(node.address)
        if len(children) > MOST_CHILDREN:
            children, self._program.is_cut = children[:MOST_CHILDREN], True
        self._nodes += len(children)
        node.children = await self._described(children, node)
        below = [each for each in node.children if not each.is_whole and each.is_showing]
        await asyncio.gather(*(self._read_below(each) for each in below))

    async def _children(self, address: Address) -> list[Address]:
        try:
            found = await self._call(address, "GetChildren")
        except CallRefusedError:
            return []
        return [
            Address(str(name), str(path)) for name, path in found if not str(path).endswith("/null")
        ]

    async def _described(self, addresses: Sequence[Address], parent: Node | None) -> list[Node]:
        found = await asyncio.gather(
            *(self._node(address, parent, index) for index, address in enumerate(addresses))
        )
        return [node for node in found if node is not None]

    async def _node(self, address: Address, parent: Node | None, index: int) -> Node | None:
        """An element; its name and states are read only where what is sought hangs on them."""
        node = Node(address, -1, "", 0, parent, index)
        search = self._search if parent is not None else _EVERYTHING
        try:
            # One call after the other: its siblings are asked meanwhile.
            node.role_number = int(await self._call(address, "GetRole"))
            may_fit = search.may_be(node)
            if may_fit:
                node.name = _text(await self._get(address, ACCESSIBLE, "Name"))
                may_fit = search.may_fit(node)
            if may_fit or not node.is_whole:
                states = states_of(await self._call(address, "GetState"))
                node.states = self._program.states_seen(states)
        except CallRefusedError:
            return None  # It has vanished meanwhile.
        return node

    async def _call(self, address: Address, member: str) -> Any:
        return await self._calls.call(address.name, address.path, ACCESSIBLE, member)

    async def _get(self, address: Address, interface: str, name: str) -> Any:
        try:
            return unpacked(
                await self._calls.call(
                    address.name, address.path, PROPERTIES, "Get", "ss", interface, name
                )
            )
        except CallRefusedError:
            return ""

    async def _kept_ready(self) -> dict[Address, Node]:
        """Every node that the program gives in one answer, with its children, by its address."""
        name = self._program.name
        items: Any = []
        with contextlib.suppress(CallRefusedError):
            # That it takes long for thousands is no sign that the program is stuck.
            asked = self._calls.send_slowly(
                name, "/org/a11y/atspi/cache", "org.a11y.atspi.Cache", "GetItems"
            )
            items = await asyncio.shield(asked)
        if not isinstance(items, list) or not all(map(_is_item, items[:1])):
            return {}
        nodes: dict[Address, Node] = {}
        below: dict[Address, list[Node]] = {}
        for (
            address,
            _application,
            parent,
            index,
            count,
            _interfaces,
            title,
            role,
            _about,
            states,
        ) in items[:MOST_NODES]:
            node = Node(
                Address(*address),
                int(role),
                _text(title),
                self._program.states_seen(states_of(states)),
                None,
                index,
                count,
            )
            nodes[node.address] = node
            below.setdefault(Address(*parent), []).append(node)
        for address, children in below.items():
            if (node_above := nodes.get(address)) is not None:
                # Some are not told which of their siblings they are: these keep their order.
                children.sort(key=lambda child: child.index)
                node_above.children = children
                for child in children:
                    child.parent = node_above
        self._program.is_cut = self._program.is_cut or len(items) > MOST_NODES
        return nodes


def _is_item(item: object) -> bool:
    """Whether it is told as today's toolkits do; older ones are read element by element."""
    return (
        isinstance(item, list | tuple) and len(item) == CACHE_ITEM_SIZE and isinstance(item[4], int)
    )


def _text(name: object) -> str:
    return name[:NAME_CHARACTERS] if isinstance(name, str) else ""
