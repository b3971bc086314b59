"""Which node a process is."""

from server.process.node import Node


def test_every_start_is_another_node() -> None:
    first, second = Node.new("n"), Node.new("n", "g")
    assert first.node_id != second.node_id
    assert (first.name, first.group, second.group) == ("n", None, "g")
