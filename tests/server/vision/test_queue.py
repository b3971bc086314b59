"""Who is served next."""

import pytest

from server.vision.queue import FairQueue, QueueFullError


def test_callers_take_turns_and_each_is_served_in_its_order() -> None:
    queue: FairQueue[str] = FairQueue(10, 5)
    for caller, item in (("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("c", "c1")):
        queue.put(caller, item)
    assert [queue.take() for _ in range(len(queue))] == ["a1", "b1", "c1", "a2", "a3"]
    assert not queue


def test_each_caller_and_all_together_have_a_bound() -> None:
    queue: FairQueue[int] = FairQueue(3, 2)
    queue.put("a", 1)
    queue.put("a", 2)
    with pytest.raises(QueueFullError):
        queue.put("a", 3)
    queue.put("b", 4)
    with pytest.raises(QueueFullError):
        queue.put("c", 5)
    queue.take()
    queue.put("c", 6)
