"""The four requests of the X Keyboard Extension that injecting needs; python-xlib has none.

Layouts of the requests and replies: "The X Keyboard Extension: Protocol Specification",
appendix D, version 1.0.  Levels and groups count from 0 here.
"""

import struct
from dataclasses import dataclass
from typing import Any

from Xlib.protocol import rq

from machine_client.desktop.x11.requests import reply_of, request_of

EXTENSION = "XKEYBOARD"

_CORE_KEYBOARD = 0x0100
_KEY_TYPES, _KEY_SYMBOLS, _MODIFIER_MAP, _KEY_ACTIONS = 1 << 0, 1 << 1, 1 << 2, 1 << 4
_NEW_KEYBOARD, _MAP_CHANGED, _STATE_CHANGED = 1 << 0, 1 << 1, 1 << 2
_EVERY_PART_OF_THE_MAP, _EFFECTIVE_GROUP = 0xFF, 1 << 4
_SET_MODIFIERS = 1
_USE_MODIFIER_MAP = 0x04
_MAP_HEADER = 32


@dataclass(frozen=True, slots=True)
class LevelEntry:
    """With exactly these modifiers, of those its key type looks at, a key gives this level."""

    modifiers: int
    level: int


@dataclass(frozen=True, slots=True)
class KeyType:
    """Which modifiers a key looks at, and what they select; level 0 where nothing matches."""

    mask: int
    entries: tuple[LevelEntry, ...]


@dataclass(frozen=True, slots=True)
class KeyGroup:
    """What a key does in one group (layout).

    ``symbols`` are its keysyms by level; ``holds`` the modifiers that are in force while the key
    is down and no longer.
    """

    type: KeyType
    symbols: tuple[int, ...]
    holds: int = 0


@dataclass(frozen=True, slots=True)
class KeyDescription:
    """One keycode and its groups; ``group_info`` says what a group that it lacks means."""

    keycode: int
    groups: tuple[KeyGroup, ...]
    group_info: int = 0

    def group(self, active: int) -> KeyGroup | None:
        """What the key does under a keyboard group, which may be more than the key has."""
        count = len(self.groups)
        if active < count:
            return self.groups[active]
        if count == 0:
            return None
        # Out of range: the two highest bits say wrap (0), clamp (1), or go to a named group (2).
        rule = self.group_info >> 6
        if rule == 1:
            return self.groups[-1]
        if rule == 2:
            named = self.group_info >> 4 & 0x03
            return self.groups[named if named < count else 0]
        return self.groups[active % count]


@dataclass(frozen=True, slots=True)
class KeyboardState:
    """Modifiers by how they came to be in force, and the effective group."""

    base: int
    latched: int
    locked: int
    group: int


class _UseExtension(rq.ReplyRequest):
    _request = request_of(0, rq.Card16("major"), rq.Card16("minor"))
    _reply = reply_of(rq.Card8("supported"), rq.Pad(24))


class _SelectEvents(rq.Request):
    _request = request_of(
        1,
        rq.Card16("device"),
        rq.Card16("affect"),
        rq.Card16("clear"),
        rq.Card16("select_all"),
        rq.Card16("affect_map"),
        rq.Card16("map"),
        rq.Card16("affect_state"),
        rq.Card16("state"),
    )


class _GetState(rq.ReplyRequest):
    _request = request_of(4, rq.Card16("device"), rq.Pad(2))
    _reply = reply_of(
        rq.Card8("device"),
        rq.Card8("mods"),
        rq.Card8("base"),
        rq.Card8("latched"),
        rq.Card8("locked"),
        rq.Card8("group"),
        rq.Pad(19),
    )


class _LatchLockState(rq.Request):
    _request = request_of(
        5,
        rq.Card16("device"),
        rq.Card8("affect_locks"),
        rq.Card8("locks"),
        rq.Pad(2),
        rq.Card8("affect_latches"),
        rq.Card8("latches"),
        rq.Pad(4),
    )


class _GetMap(rq.ReplyRequest):
    _request = request_of(8, rq.Card16("device"), rq.Card16("full"), rq.Pad(20))
    _reply = reply_of(rq.Card8("device"), rq.Binary("content", pad=0))


def use_extension(display: Any, opcode: int) -> bool:
    """Announce XKB 1.0 to the server, before any other request; whether it agrees."""
    return bool(_UseExtension(display=display, opcode=opcode, major=1, minor=0).supported)


def select_changes(display: Any, opcode: int) -> None:
    """Ask for an event whenever the keyboard, its map or its group changes.

    A client that uses XKB no longer gets the core protocol's MappingNotify.
    """
    _SelectEvents(
        display=display,
        opcode=opcode,
        device=_CORE_KEYBOARD,
        affect=_NEW_KEYBOARD | _MAP_CHANGED | _STATE_CHANGED,
        clear=0,
        select_all=_NEW_KEYBOARD,
        affect_map=_EVERY_PART_OF_THE_MAP,
        map=_EVERY_PART_OF_THE_MAP,
        affect_state=_EFFECTIVE_GROUP,
        state=_EFFECTIVE_GROUP,
    )


def get_state(display: Any, opcode: int) -> KeyboardState:
    """Ask which modifiers and which group are in force: one round trip."""
    reply = _GetState(display=display, opcode=opcode, device=_CORE_KEYBOARD)
    return KeyboardState(reply.base, reply.latched, reply.locked, reply.group)


def set_locks_and_latches(
    display: Any, opcode: int, *, affect_locks: int, locks: int, affect_latches: int, latches: int
) -> None:
    """Set the affected modifiers' locks and latches without any key event; no round trip.

    The server refuses the request if it sets a modifier that it does not say to affect.
    """
    _LatchLockState(
        display=display,
        opcode=opcode,
        device=_CORE_KEYBOARD,
        affect_locks=affect_locks,
        locks=locks,
        affect_latches=affect_latches,
        latches=latches,
    )


def get_keys(display: Any, opcode: int) -> tuple[KeyDescription, ...]:
    """Read the whole keyboard map: one round trip."""
    wanted = _KEY_TYPES | _KEY_SYMBOLS | _MODIFIER_MAP | _KEY_ACTIONS
    reply = _GetMap(display=display, opcode=opcode, device=_CORE_KEYBOARD, full=wanted)
    return parse_map(bytes(reply.content))


@dataclass(frozen=True, slots=True)
class _Action:
    kind: int
    flags: int
    mask: int


@dataclass(slots=True)
class _Reader:
    content: bytes
    offset: int

    def take(self, layout: str) -> tuple[int, ...]:
        # The server writes in the byte order of this machine, which python-xlib asked for.
        values = struct.unpack_from("=" + layout, self.content, self.offset)
        self.offset += struct.calcsize("=" + layout)
        return values

    def align(self) -> None:
        self.offset += -self.offset % 4


def parse_map(content: bytes) -> tuple[KeyDescription, ...]:
    """Parse what follows the first 8 bytes of a GetMap reply with the four parts asked for."""
    (type_count, first_key, key_count, first_action, action_keys, modifier_entries) = (
        struct.unpack_from("=7xBxBxxBBxxB8xB", content)
    )
    reader = _Reader(content, _MAP_HEADER)
    types = [_read_type(reader) for _ in range(type_count)]
    symbols = [_read_symbols(reader) for _ in range(key_count)]
    actions = _read_actions(reader, first_action, action_keys)
    modifier_map = {}
    for _ in range(modifier_entries):
        keycode, modifiers = reader.take("BB")
        modifier_map[keycode] = modifiers
    return tuple(
        KeyDescription(
            keycode,
            tuple(
                KeyGroup(
                    types[type_index],
                    levels,
                    _held(actions.get(keycode), group * len(levels), modifier_map.get(keycode, 0)),
                )
                for group, (type_index, levels) in enumerate(groups)
            ),
            info,
        )
        for keycode, (groups, info) in enumerate(symbols, first_key)
    )


def _read_type(reader: _Reader) -> KeyType:
    mask, _, _, _, count, preserves = reader.take("BBHBBBx")
    entries = [reader.take("BBBBHxx") for _ in range(count)]
    if preserves:
        reader.take(f"{4 * count}x")
    return KeyType(
        mask,
        tuple(LevelEntry(modifiers, level) for active, modifiers, level, _, _ in entries if active),
    )


def _read_symbols(reader: _Reader) -> tuple[list[tuple[int, tuple[int, ...]]], int]:
    """Read a key's groups, each the number of its type and its symbols, and its group info."""
    *type_indexes, info, width, count = reader.take("BBBBBBH")
    symbols = reader.take(f"{count}I")
    groups = [
        (type_indexes[group], symbols[group * width : (group + 1) * width])
        for group in range(info & 0x0F)
    ]
    return groups, info


def _read_actions(reader: _Reader, first_key: int, key_count: int) -> dict[int, list[_Action]]:
    """Read the actions of the keys that have any, in the order of their symbols."""
    counts = reader.take(f"{key_count}B")
    reader.align()
    return {
        keycode: [_Action(*reader.take("BBB5x")) for _ in range(count)]
        for keycode, count in enumerate(counts, first_key)
        if count
    }


def _held(actions: list[_Action] | None, index: int, from_map: int) -> int:
    """The modifiers in force while a key is down; a key that locks or latches has none."""
    if actions is None:
        return from_map
    action = actions[index]
    if action.kind != _SET_MODIFIERS:
        return 0
    return from_map if action.flags & _USE_MODIFIER_MAP else action.mask
