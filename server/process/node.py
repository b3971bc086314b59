"""Which node this process is."""

from dataclasses import dataclass
from uuid import UUID, uuid4


@dataclass(frozen=True)
class Node:
    """A node of an installation.

    ``node_id`` is new whenever a process starts; ``name`` is what operators call it; ``group`` is
    the same for all nodes that one parent runs, and None for one without.
    """

    node_id: UUID
    name: str
    group: str | None = None

    @classmethod
    def new(cls, name: str, group: str | None = None) -> "Node":
        """A node that is just starting."""
        return cls(uuid4(), name, group)
