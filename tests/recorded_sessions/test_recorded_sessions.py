"""A short part of ``python -m tests.recorded_sessions``, and that a difference would be told."""

from pathlib import Path

from tests.recorded_sessions.places import Spot
from tests.recorded_sessions.plan import plan
from tests.recorded_sessions.run import Outcome, Session, kind_of, measured, way_of

SHORT = (3, 8, 1)
"""The form by hand, the terminal by several actions at once, the editor by inputs."""


def test_what_is_recorded_and_sent_again_leaves_the_same_behind(
    tmp_path: Path, mongodb: str
) -> None:
    ways = {way_of(each): kind_of(each) for each in SHORT}
    assert ways == {"hand": "form", "several": "terminal", "inputs": "editor"}
    outcome = measured(
        tmp_path, SHORT, 8, mongodb_uri=mongodb, mongodb_database="recorded_sessions"
    )
    assert len(outcome.sessions) == len(SHORT)
    for session in outcome.sessions:
        assert not session.differs, session.table()
        assert session.steps


def test_difference_is_told_with_what_was_done() -> None:
    (doing,) = plan("1 hand form", "form", {"field": Spot(1, 2, 3, 4)}, 1)
    step = {"operation": "mouse.click", "body": {"x": 1, "y": 2}, "picture": None}
    other = Session("1 hand form", [doing], [step], {"text": "a"}, {"text": "b"}, {"text": "c"})
    unsent = Session("2 several editor", [doing], [step], {}, None, {}, "has a secret")
    same = Session("4 inputs form", [doing], [step], {}, {})
    outcome = Outcome([other, unsent, same])
    assert outcome.different == [other, unsent]
    told, once_more, *_ = outcome.summary().splitlines()
    assert told == "3 sessions, 3 steps, 2 differ"
    assert once_more == "  1 of these also where the same was done once more"
    lines = other.table().splitlines()
    assert lines[0] == "1 hand form leaves something else behind"
    assert lines[-3:-1] == ['  first {"text": "a"}', '  again {"text": "b"}']
    assert lines[-1] == '  once more {"text": "c"}'
    assert plan("1 hand form", "form", {"field": Spot(1, 2, 3, 4)}, 1) == [doing]
