"""What AT-SPI's numbers mean."""

from machine_client.desktop.accessibility.nodes import Address, Node, states_of
from schemas.link.element_messages import MAX_DEPTH

SHOWN = states_of([0x43000900, 0])


def node(role: int = 43, states: int = SHOWN, parent: Node | None = None) -> Node:
    return Node(Address(":1.7", "/a"), role, "Save", states, parent)


def test_states_are_told_in_words() -> None:
    assert node().words() == ["enabled", "focusable", "showing"]
    assert states_of([-1, -1]) == 2**64 - 1
    assert states_of("nothing") == 0


def test_what_is_gone_or_hidden_does_not_show() -> None:
    assert node().is_showing
    assert not node(states=SHOWN | 1 << 6).is_showing
    assert not node(states=SHOWN & ~(1 << 30)).is_showing
    assert not node(states=SHOWN & ~(1 << 25)).is_showing


def test_role_of_a_later_version_is_unknown() -> None:
    assert (node(43).role, node(9999).role, node(-1).role) == ("push button", "unknown", "unknown")
    assert node(40).is_secret
    assert not node(40).has_text


def test_depth_is_counted_from_the_window_and_bounded() -> None:
    window = node(23)
    button = node(parent=node(parent=window))
    window.children = [button]
    assert (window.depth, button.depth, button.window) == (0, 2, window)
    assert [*window.walk()] == [window, button]
    for _ in range(MAX_DEPTH + 5):
        button = node(parent=button)
    assert button.depth == MAX_DEPTH
