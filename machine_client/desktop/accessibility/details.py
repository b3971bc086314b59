"""What is read of elements once it is known that they matter: their places and their values."""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

from machine_client.desktop.accessibility.bus import (
    CallRefusedError,
    Calls,
    SilentProgramError,
    unpacked,
)
from machine_client.desktop.accessibility.nodes import NAME_CHARACTERS, Address, Node, states_of
from machine_client.desktop.accessibility.programs import ACCESSIBLE, PROPERTIES
from schemas.values.pictures import Region

COMPONENT: Final = "org.a11y.atspi.Component"
TEXT: Final = "org.a11y.atspi.Text"
VALUE: Final = "org.a11y.atspi.Value"
ON_SCREEN: Final = 0
IN_WINDOW: Final = 1
CHARACTER: Final = 0

VALUE_CHARACTERS: Final = 2000
"""Of a value that are read."""


async def read_bounds(calls: Calls, nodes: Iterable[Node], *, relative: bool) -> None:
    """Fill in where nodes are, in their programs' measure; what has no place has none then."""
    await asyncio.gather(
        *(_read_bounds(calls, node, IN_WINDOW if relative else ON_SCREEN) for node in nodes)
    )


async def _read_bounds(calls: Calls, node: Node, coordinates: int) -> None:
    address = node.address
    try:
        found = await calls.call(
            address.name, address.path, COMPONENT, "GetExtents", "u", coordinates
        )
        bounds = Region(*map(int, found))
    except (CallRefusedError, SilentProgramError, TypeError, ValueError):
        node.bounds = None
        return
    is_somewhere = bounds.width > 0 and bounds.height > 0 and min(bounds.x, bounds.y) > -(2**31)
    node.bounds = bounds if is_somewhere else None


async def read_values(calls: Calls, nodes: Iterable[Node]) -> None:
    """Fill in what is in nodes; of password fields, and of what is in them, nothing is asked."""
    await asyncio.gather(*(_read_value(calls, node) for node in nodes if not _is_secret(node)))


def _is_secret(node: Node) -> bool:
    return node.is_secret or any(each.is_secret for each in node.ancestors)


async def _read_value(calls: Calls, node: Node) -> None:
    try:
        if node.has_text:
            text = await _text_of(calls, node.address)
            is_hidden = bool(text) and await _is_hidden(calls, node.address, text or "")
            node.value = None if is_hidden else text
        if node.has_number and node.value is None:
            node.value = await _number_of(calls, node.address)
    except SilentProgramError:
        node.value = None


async def _text_of(calls: Calls, address: Address) -> str | None:
    try:
        text = await calls.call(
            address.name, address.path, TEXT, "GetText", "ii", 0, VALUE_CHARACTERS
        )
        return text[:VALUE_CHARACTERS] if isinstance(text, str) else None
    except CallRefusedError:
        return await _all_text_of(calls, address)


async def _all_text_of(calls: Calls, address: Address) -> str | None:
    """Some want to be asked for no more than there is."""
    try:
        text = await calls.call(address.name, address.path, TEXT, "GetText", "ii", 0, -1)
    except CallRefusedError:
        return None
    return text[:VALUE_CHARACTERS] if isinstance(text, str) else None


async def _is_hidden(calls: Calls, address: Address, text: str) -> bool:
    """Whether a text is not drawn as it is: GTK 4 calls an entry that hides its text a plain one.

    It tells of the whole text as it is, and of one character as it is drawn.
    """
    try:
        drawn = await calls.call(
            address.name, address.path, TEXT, "GetStringAtOffset", "iu", 0, CHARACTER
        )
    except CallRefusedError:
        return False
    first = drawn[0] if isinstance(drawn, list | tuple) and drawn else None
    return isinstance(first, str) and first != "" and first not in text


async def _number_of(calls: Calls, address: Address) -> str | None:
    try:
        number: Any = unpacked(
            await calls.call(
                address.name, address.path, PROPERTIES, "Get", "ss", VALUE, "CurrentValue"
            )
        )
    except CallRefusedError:
        return None
    return f"{number:.12g}" if isinstance(number, int | float) else None


async def read_again(calls: Calls, node: Node) -> bool:
    """Whether a node is still what it was; its states are as they are now."""
    address = node.address
    try:
        role, name, states = await asyncio.gather(
            calls.call(address.name, address.path, ACCESSIBLE, "GetRole"),
            calls.call(address.name, address.path, PROPERTIES, "Get", "ss", ACCESSIBLE, "Name"),
            calls.call(address.name, address.path, ACCESSIBLE, "GetState"),
        )
    except (CallRefusedError, SilentProgramError):
        return False
    node.states = states_of(states)
    told = unpacked(name)
    return (
        role == node.role_number and isinstance(told, str) and told[:NAME_CHARACTERS] == node.name
    )
