from schemas.inputs.hand import Batch
from server.dispatch.hand.input_queue import QueuedInput
from server.dispatch.hand.segment import Segment
from tests.hand_client import button, key, move, wheel


def did(*said: object) -> Segment:
    segment = Segment()
    for event in Batch.model_validate({"sequence": 1, "events": said}).events:
        segment.did(QueuedInput(event, 1))
    return segment


def test_note_counts_what_went_down_and_says_nothing_of_a_text() -> None:
    segment = did(
        *(move(1, 1), move(2, 2), button(True), button(False), wheel("up", 2)),
        *(key("h", True), key("h", False), key("space", True), key("enter", True)),
        {"type": "text", "text": "hunter2"},
    )
    segment.refused += 1
    assert segment.in_words() == "1 click, 9 characters, 1 key, 2 wheel notches, 1 refused"
    assert segment.inputs == 13


def test_moves_are_told_only_where_nothing_else_was_done() -> None:
    segment = did(move(1, 1), move(2, 2))
    assert (segment.in_words(), segment.inputs) == ("pointer moved", 0)


def test_note_of_a_segment_of_nothing_but_releases() -> None:
    assert did(key("a", False)).in_words() == "nothing done"
