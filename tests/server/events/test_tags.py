"""What names an organization's events."""

from server.events.tags import event_tags
from tests.store import ORGANIZATION, OTHER_ORGANIZATION


def test_tag_is_the_same_on_every_node_and_another_for_every_organization() -> None:
    one, same, other = event_tags(b"secret"), event_tags(b"secret"), event_tags(b"other")
    assert one(ORGANIZATION) == same(ORGANIZATION)
    assert len({one(ORGANIZATION), one(OTHER_ORGANIZATION), other(ORGANIZATION)}) == 3
    assert "-" not in one(ORGANIZATION)
