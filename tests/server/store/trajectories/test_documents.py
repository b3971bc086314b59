from uuid import UUID

import bson

from server.store.mongodb.documents import CODEC_OPTIONS
from server.store.trajectories.documents import Segment, document_of, stored_trajectory
from tests.trajectories import stored

SEGMENT = Segment(UUID(int=1), 2, 3_000_000_000)


def test_document_brings_back_every_field() -> None:
    plain = stored()
    whole = stored(
        pieces=(b'{"a":1}', b"{}"), segments=(SEGMENT,), own_segment=SEGMENT.id, version=2**41
    )
    for trajectory in (plain, whole):
        kept = bson.encode(document_of(trajectory, {"search": []}), codec_options=CODEC_OPTIONS)
        assert stored_trajectory(bson.decode(kept, codec_options=CODEC_OPTIONS)) == trajectory


def test_document_of_a_small_one_has_no_word_about_parts() -> None:
    document = document_of(stored(), {"search": ["x"]})
    assert not document.keys() & {"pieces", "segments", "own_segment", "id"}
    assert (document["search"], document["inline_size"]) == (["x"], len(b'{"n":1}'))


def test_inline_steps_are_those_of_the_creation_then_the_appended_ones() -> None:
    trajectory = stored(pieces=(b"{},{}", b'{"m":2}'))
    assert trajectory.inline_steps == [b'{"n":1}', b"{},{}", b'{"m":2}']
    assert trajectory.inline_size == 7 + 5 + 7
    for nothing in (None, b"[]"):
        assert stored(trajectory_data=nothing).inline_steps == []
