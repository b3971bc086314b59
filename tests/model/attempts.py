"""Attempts that stand for one another: what they are called matters to nobody.

The real ones are drawn at random, and all that is ever asked of two of them is whether they are
the same.  So a state in which every attempt has another name, the same one in all places, goes on
just as before: the steps that it has are the same but for the names, and no promise reads one.
"""

from collections.abc import Iterator

from tests.model.state import Node, Record, Write

_WithAttempts = tuple[Record | None, Write | None, tuple[Node, Node]]


def with_attempts_in_order(
    record: Record | None, late: Write | None, nodes: tuple[Node, Node]
) -> _WithAttempts:
    """The same, with the attempts numbered as they come up: in the ledger, then in the nodes.

    The ledger's have the same numbers in whichever order the nodes are.
    """
    rank = {0: 0}  # None: nothing was claimed, or nothing is taken over.
    for attempt in _attempts(record, late, nodes):
        rank.setdefault(attempt, len(rank))
    if all(attempt == number for attempt, number in rank.items()):
        return record, late, nodes
    return renamed(record, late, nodes, rank)


def renamed(
    record: Record | None, late: Write | None, nodes: tuple[Node, Node], rank: dict[int, int]
) -> _WithAttempts:
    """The same, with each attempt under another name, which is its own in all places."""
    first, second = nodes
    return (
        record and _record_with(record, rank),
        late and _write_with(late, rank),
        (_node_with(first, rank), _node_with(second, rank)),
    )


def _attempts(record: Record | None, late: Write | None, nodes: tuple[Node, Node]) -> Iterator[int]:
    """Every place that holds an attempt."""
    if record is not None:
        yield record.attempt
    if late is not None:
        yield late.attempt
        yield late.record.attempt
    for link, request, _, _ in nodes:
        if request is not None:
            yield request.record.attempt
            yield request.taken
        if link is not None and link.write is not None:
            yield link.write.attempt
            yield link.write.record.attempt


def _record_with(record: Record, rank: dict[int, int]) -> Record:
    return Record(record.state, rank[record.attempt], record.sent)


def _write_with(write: Write, rank: dict[int, int]) -> Write:
    return Write(write.kind, rank[write.attempt], _record_with(write.record, rank))


def _node_with(node: Node, rank: dict[int, int]) -> Node:
    link, request, sending, taken = node
    if link is not None and link.write is not None:
        link = link._replace(write=_write_with(link.write, rank))
    if request is not None:
        record = _record_with(request.record, rank)
        request = request._replace(record=record, taken=rank[request.taken])
    return Node(link, request, sending, taken)
