"""An element as its program tells of it, and what AT-SPI's numbers mean."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from schemas.inputs.element_words import ROLES, STATES, Role, State
from schemas.link.element_messages import MAX_DEPTH
from schemas.values.pictures import Region

NAME_CHARACTERS: Final = 10_000
"""Of a name that are looked at: programs can call themselves anything."""

_STATE_BITS: Final[dict[State, int]] = {
    "active": 1,
    "busy": 3,
    "checked": 4,
    "collapsed": 5,
    "editable": 7,
    "expandable": 9,
    "expanded": 10,
    "focusable": 11,
    "focused": 12,
    "modal": 16,
    "multi-line": 17,
    "pressed": 20,
    "selectable": 22,
    "selected": 23,
    "enabled": 24,
    "showing": 25,
    "indeterminate": 32,
    "required": 33,
    "invalid entry": 36,
    "default": 39,
    "checkable": 41,
    "has popup": 42,
    "read-only": 43,
}
"""``enabled`` is AT-SPI's SENSITIVE: its own ENABLED is said of labels by some, by others not."""

_DEFUNCT: Final = 6
_VISIBLE: Final = 30

_WITH_TEXT: Final[frozenset[Role]] = frozenset(
    {
        *("text", "entry", "autocomplete", "editbar", "terminal", "spin button"),
        *("document text"),
    }
)
_WITH_NUMBER: Final[frozenset[Role]] = frozenset(
    {"slider", "progress bar", "level bar", "dial", "scroll bar", "rating", "spin button"}
)

_WHOLE: Final[frozenset[Role]] = frozenset(
    {
        *("push button", "toggle button", "check box", "radio button", "slider", "scroll bar"),
        *("progress bar", "separator", "image", "icon", "password text"),
    }
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where an element is asked: its program's name on the bus, and its own path there."""

    name: str
    path: str


@dataclass(slots=True, eq=False)
class Node:
    """An element; ``states`` are AT-SPI's bits, ``index`` its place among its siblings, or -1.

    ``bounds`` are in its program's own measure, and filled in where they are needed.
    """

    address: Address
    role_number: int
    name: str
    states: int
    parent: "Node | None" = None
    index: int = -1
    child_count: int = 0
    children: list["Node"] = field(default_factory=list)
    bounds: Region | None = None
    value: str | None = None

    @property
    def role(self) -> Role:
        """What it is; unknown to us is unknown."""
        return ROLES[self.role_number] if 0 <= self.role_number < len(ROLES) else "unknown"

    @property
    def is_enabled(self) -> bool:
        """Whether it takes inputs."""
        return self.has("enabled")

    @property
    def is_showing(self) -> bool:
        """Whether its program says that it can be seen."""
        return self.has("showing") and self._has_bit(_VISIBLE) and not self._has_bit(_DEFUNCT)

    @property
    def is_secret(self) -> bool:
        """Whether nothing of what is in it may be read."""
        return self.role == "password text"

    @property
    def is_whole(self) -> bool:
        """Whether nothing in it is worth a question: what is in a button is its label."""
        return self.role in _WHOLE

    @property
    def has_text(self) -> bool:
        """Whether its value is a text."""
        return self.role in _WITH_TEXT

    @property
    def has_number(self) -> bool:
        """Whether its value is a number."""
        return self.role in _WITH_NUMBER

    @property
    def ancestors(self) -> Iterator["Node"]:
        """What it is in, from the nearest to its window."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    @property
    def window(self) -> "Node":
        """Its window, which may be itself."""
        return [self, *self.ancestors][-1]

    @property
    def depth(self) -> int:
        """How many levels it is below its window."""
        return min(MAX_DEPTH, sum(1 for _ in self.ancestors))

    def has(self, state: State) -> bool:
        """Whether something is said of it."""
        return self._has_bit(_STATE_BITS[state])

    def words(self) -> list[str]:
        """Its states as they are told."""
        return [state for state in STATES if self.has(state)]

    def walk(self) -> Iterator["Node"]:
        """It and all that is in it, each before what is in it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def _has_bit(self, bit: int) -> bool:
        return bool(self.states >> bit & 1)


def states_of(words: object) -> int:
    """AT-SPI's two words of 32 bits as one number."""
    if not isinstance(words, list | tuple):
        return 0
    return sum((int(word) & 0xFFFFFFFF) << 32 * place for place, word in enumerate(words[:2]))
