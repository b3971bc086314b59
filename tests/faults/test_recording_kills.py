"""Whatever is killed while a machine is recorded, no step is lost or there twice: a short run."""

from pathlib import Path

from tests.faults.recording_judge import Victim
from tests.faults.recording_kills import RecordingPlan, measure


def test_each_step_of_a_recording_is_there_once_through_kills(tmp_path: Path) -> None:
    """``python -m tests.faults --recording-kills 100`` is the same, for longer."""
    kills = measure(RecordingPlan(1, seed=35, kills=len(Victim)), tmp_path, members=1)
    print(kills.table())
    assert kills.wrong == []
    assert {*kills.kills} == {*Victim}
