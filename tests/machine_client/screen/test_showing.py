"""What is shown to the node of a wait, when, and what is made of its answers."""

from typing import Any

import pytest

from machine_client.desktop.base import DesktopError, RawFrame
from machine_client.screen.sender import EncodedPicture
from machine_client.screen.showing import Showing, Tell
from schemas.inputs.waits import Wait
from schemas.link.messages import FrameJudged
from schemas.values.pictures import Region, Size

LEFT, RIGHT = (
    {"x": 0, "y": 0, "width": 40, "height": 40},
    {"x": 60, "y": 0, "width": 40, "height": 40},
)


def frame(left: int = 0, right: int = 0) -> RawFrame:
    """A screen whose halves have these greys."""
    row = bytes([left]) * 200 + bytes([right]) * 200
    return RawFrame(Region(0, 0, 100, 50), Size(100, 50), bytearray(row * 50), 0.0)


class Node:
    """Notes what is shown, and says what it is told to say."""

    def __init__(self, *conditions: dict[str, Any]) -> None:
        self.shown: list[tuple[tuple[int, ...], Region]] = []
        self._tell: Tell | None = None
        wait = Wait.model_validate({"any": [*conditions]})
        self.showing = Showing(wait.any, self._show)

    def _show(self, numbers: tuple[int, ...], picture: EncodedPicture, tell: Tell) -> None:
        self.shown.append((numbers, picture.region))
        self._tell = tell

    def says(self, **judged: Any) -> None:
        assert self._tell is not None
        self._tell(FrameJudged(number=1, server_time=0, **judged))


def test_part_is_shown_once_and_again_when_it_has_changed_there() -> None:
    node = Node({"still": 1}, {"text": "Saved", "region": LEFT})
    node.showing.saw(frame())
    node.showing.go_on(0)
    assert node.shown == [((1,), Region(0, 0, 40, 40))]
    node.showing.saw(frame(left=9))
    node.showing.go_on(1)
    assert len(node.shown) == 1  # One at a time.
    node.says(seen=("Save",))
    node.showing.go_on(2)
    assert len(node.shown) == 1  # It rests for as long as that took.
    node.showing.go_on(4)
    assert len(node.shown) == 2
    node.says()
    node.showing.saw(frame(left=9, right=9))
    node.showing.go_on(5)
    node.showing.go_on(9)
    assert len(node.shown) == 2
    assert (node.showing.met, node.showing.seen) == (None, ("Save",))


def test_conditions_of_one_part_are_shown_together_and_parts_take_turns() -> None:
    node = Node(
        {"text": "aa", "region": LEFT},
        {"text": "bb", "region": RIGHT},
        {"text": "cc", "region": LEFT},
    )
    for moment in range(0, 30, 10):
        node.showing.saw(frame(left=moment, right=moment))
        node.showing.go_on(moment)
        node.says()
        node.showing.go_on(moment + 5)
    assert [numbers for numbers, _ in node.shown][:3] == [(0, 2), (1,), (0, 2)]


def test_what_the_node_has_seen_meets_the_wait_and_nothing_more_is_shown() -> None:
    node = Node({"text": "Saved"})
    node.showing.saw(frame())
    assert node.showing.is_busy
    node.showing.go_on(0)
    node.says(matched=0, at=Region(1, 2, 3, 4))
    node.showing.saw(frame(left=9))
    node.showing.go_on(1)
    assert node.showing.met == (0, Region(1, 2, 3, 4))
    assert len(node.shown) == 1


def test_node_that_does_not_look_ends_the_wait() -> None:
    node = Node({"text": "Saved"})
    node.showing.saw(frame())
    node.showing.go_on(0)
    node.says(failed="nobody looks")
    with pytest.raises(DesktopError, match="nobody looks") as raised:
        node.showing.go_on(1)
    assert raised.value.code == "vision_unavailable"


def test_nothing_is_shown_where_the_machine_judges_by_itself() -> None:
    node = Node({"still": 1}, {"changed": True})
    node.showing.saw(frame())
    node.showing.go_on(0)
    assert (node.shown, node.showing.is_busy) == ([], False)
