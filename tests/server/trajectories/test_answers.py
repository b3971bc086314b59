from dataclasses import replace

import pytest

from schemas.resources.workflows import NewWorkflow
from server.store.mongodb.database import Database
from server.store.trajectories.documents import Segment
from server.store.trajectories.parts import PartStore
from server.trajectories.answers import TrajectoryAnswer
from server.trajectories.creation import new_workflow
from tests.store import ORGANIZATION, collected
from tests.trajectories import stored


async def test_answer_is_the_same_text_whole_and_in_chunks(database: Database) -> None:
    workflow = replace(new_workflow(ORGANIZATION, NewWorkflow(name="w")), version=7)
    for workflows, tag in ((None, '"1"'), ([], '"1.0"'), ([workflow], '"1.7"')):
        answer = TrajectoryAnswer(PartStore(database), stored(), workflows)
        assert answer.is_in_memory
        assert answer.tag == tag
        assert answer.whole() == b"".join(await collected(answer.chunks()))
        assert answer.size == len(answer.whole())
        assert (b"included" in answer.whole()) == (workflows is not None)


async def test_answer_with_segments_is_not_in_memory(database: Database) -> None:
    outgrown = stored(segments=(Segment(ORGANIZATION, 1, 9),))
    answer = TrajectoryAnswer(PartStore(database), outgrown)
    assert not answer.is_in_memory
    with pytest.raises(ValueError, match="not all in its document"):
        answer.whole()
