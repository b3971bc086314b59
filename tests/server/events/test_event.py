"""Events alone; subscriptions are seen at work in test_hub.py."""

from schemas.resources.events import MachineRemoved
from server.events.event import Event


def test_content_is_made_when_it_is_needed_and_once() -> None:
    made: list[MachineRemoved] = []

    def make() -> MachineRemoved:
        made.append(MachineRemoved(id="a"))
        return made[-1]

    event = Event(1, "machine_removed", make, "a")
    assert made == []
    assert (event.data, event.data) == (b'{"id":"a"}', b'{"id":"a"}')
    assert len(made) == 1
    assert Event(2, "machine", b'{"id":"b"}', "b").data == b'{"id":"b"}'
