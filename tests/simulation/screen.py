"""An X server, which outlives the clients that press on it."""

from collections.abc import Iterator
from enum import Enum, auto


class Kind(Enum):
    """What a device does."""

    MOTION = auto()
    PRESS = auto()
    RELEASE = auto()


class XServer:
    """What is down on one machine's desktop.

    It drops a press of what is down and a release of what is up, and keeps down what a client
    pressed that died.  ``record`` is what our clients write down in it before they press;
    ``persons_came`` counts what a person did.
    """

    def __init__(self) -> None:
        self.down: list[str] = []
        self.record: list[str] = []
        self.persons: set[str] = set()
        self.persons_came = 0

    def do(self, kind: Kind, what: str) -> bool:
        """Do something with a button or key, or move the pointer; whether an event happens."""
        if kind is Kind.MOTION:
            return True
        if (what in self.down) is (kind is Kind.PRESS):
            return False
        if kind is Kind.PRESS:
            self.down.append(what)
        else:
            self.down.remove(what)
            self.persons.discard(what)
        return True

    def press_as_person(self, what: str) -> bool:
        """A person presses something; False where it is down already."""
        if not self.do(Kind.PRESS, what):
            return False
        self.persons.add(what)
        self.persons_came += 1
        return True

    def release_as_person(self, what: str) -> None:
        """The person lets go of it."""
        if what in self.persons:
            self.do(Kind.RELEASE, what)
            self.persons_came += 1

    def left_behind(self) -> Iterator[str]:
        """What is down and in the record, the last one first."""
        yield from [what for what in reversed(self.record) if what in self.down]
