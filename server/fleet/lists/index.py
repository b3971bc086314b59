"""The rows of an organization, filed by what lists are filtered by, and kept in their orders."""

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

from schemas.resources.machine_lists import ShownState
from server.fleet.lists.rows import Row

Value = TypeVar("Value")

ORDERS: Final[dict[str, Callable[[Row], Any]]] = {
    "id": lambda row: row.id,
    "name": lambda row: (row.name_order, row.id),
    "created_at": lambda row: (row.created_at, row.id),
    "version": lambda row: (row.version_order, row.id),
    "latest": lambda row: (-row.since, row.name_order, row.id),
}
"""What rows are sorted by that does not change with the moment; the latest is that of trouble."""


class Files(dict[Value, set[str]], Generic[Value]):
    """The ids of the machines that have each value; a value that none has is not there."""

    def add(self, value: Value, machine_id: str) -> None:
        """A machine has this value."""
        self.setdefault(value, set()).add(machine_id)

    def discard(self, value: Value, machine_id: str) -> None:
        """A machine has it no more."""
        self[value].discard(machine_id)
        if not self[value]:
            del self[value]

    def any_of(self, values: Iterable[Value]) -> set[str]:
        """The machines that have one of these values: a set of the caller's own."""
        return set().union(*(self[each] for each in values if each in self))


class Index:
    """The rows, and which of them are in each pool, state and so on.

    All of it follows each row that changes, so that no list looks at more rows than it must.
    ``by_state`` has those without a ``node`` alone; ``by_node`` has the others.
    """

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.by_pool: Files[str] = Files()
        self.by_tag: Files[str] = Files()
        self.by_version: Files[str] = Files()
        self.by_state: Files[ShownState] = Files()
        self.by_node: Files[str] = Files()
        self.node_names: dict[str, str] = {}
        self._orders: dict[str, list[str]] = {}

    def put(self, row: Row) -> None:
        """Take a row in place of what was there of the same machine."""
        old = self.rows.get(row.id)
        moved = [
            order
            for order in self._orders
            if old is None or ORDERS[order](old) != ORDERS[order](row)
        ]
        if old is not None:
            self._take_out(old, moved)
        self.rows[row.id] = row
        self._file(row)
        for order in moved:
            insort(self._orders[order], row.id, key=self._key(order))

    def remove(self, machine_id: str) -> None:
        """A machine is gone, or was not there."""
        if (old := self.rows.get(machine_id)) is not None:
            self._take_out(old, self._orders)
            del self.rows[machine_id]

    def forget_orders(self) -> None:
        """So many rows are about to change that to sort them all again is the smaller work."""
        self._orders.clear()

    def in_order(self, order: str) -> Sequence[str]:
        """The ids of all machines, in one of the `ORDERS`."""
        if order not in self._orders:
            self._orders[order] = sorted(self.rows, key=self._key(order))
        return self._orders[order]

    def in_pools(self, pools: Collection[UUID]) -> set[str]:
        """The machines that are in one of these pools."""
        return self.by_pool.any_of(each.hex for each in pools)

    def _file(self, row: Row) -> None:
        for files, value in self._places_of(row):
            files.add(value, row.id)
        if row.node is not None:
            self.node_names[row.node] = row.node_name

    def _take_out(self, old: Row, orders: Iterable[str]) -> None:
        for order in orders:
            ids = self._orders[order]
            del ids[bisect_left(ids, ORDERS[order](old), key=self._key(order))]
        for files, value in self._places_of(old):
            files.discard(value, old.id)
        if old.node is not None and old.node not in self.by_node:
            del self.node_names[old.node]

    def _places_of(self, row: Row) -> Iterator[tuple[Files[Any], Any]]:
        """Where a row is filed."""
        yield from ((self.by_pool, pool) for pool in row.pools)
        yield from ((self.by_tag, tag) for tag in row.tags)
        if row.version is not None:
            yield self.by_version, row.version
        yield (self.by_state, row.state) if row.node is None else (self.by_node, row.node)

    def _key(self, order: str) -> Callable[[str], Any]:
        rows, key = self.rows, ORDERS[order]
        return lambda machine_id: key(rows[machine_id])
