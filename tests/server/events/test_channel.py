"""What a channel knows of the past."""

from hypothesis import given
from hypothesis import strategies as st

from server.events.channel import Channel
from server.events.event import Event, Subscription


@given(st.integers(0, 12), st.integers(1, 6), st.integers(-1, 14))
def test_what_happened_since_is_whole_or_not_known(many: int, history: int, since: int) -> None:
    channel = Channel("tag", history)
    for number in range(1, many + 1):
        channel.tell(Event(number, "machine", b"{}", None))
    found = channel.since(since)
    if max(many - history, 0) <= since <= many:
        assert found is not None
        assert [event.number for event in found] == list(range(since + 1, many + 1))
    else:
        assert found is None


def test_id_is_known_by_its_tag() -> None:
    channel = Channel("tag", 5)
    subscription = Subscription(channel, lambda _: True, 5)
    assert channel.number_in(subscription.id_of(7)) == 7
    assert channel.number_in("gat-7") is None
    assert channel.number_in("tag-x") is None
    assert channel.number_in("tag") is None
