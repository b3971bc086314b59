"""What a list is asked for becomes a filter; the lists themselves are in test_trajectories.py."""

import re

from hypothesis import given
from hypothesis import strategies as st

from schemas.trajectories import TrajectoryQuery
from server.store.trajectory_listing import substring_pattern, trajectory_filter
from tests.store import ORGANIZATION

TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0")
    | st.sampled_from("aAßİ.*+?$()[]{}|\\^'\""),
    max_size=12,
)


@given(TEXTS, TEXTS)
def test_pattern_finds_the_folded_text_itself_and_nothing_else(needle: str, text: str) -> None:
    found = re.search(substring_pattern(needle), text.casefold()) is not None
    assert found == (needle.casefold() in text.casefold())


def test_nothing_is_filtered_that_was_not_asked_for() -> None:
    wanted = trajectory_filter(ORGANIZATION, TrajectoryQuery(is_generated=None))
    assert wanted == {"organization_id": ORGANIZATION}


def test_what_a_user_types_is_only_ever_a_value() -> None:
    wanted = trajectory_filter(ORGANIZATION, TrajectoryQuery(search='{"$gt": ""}.*'))
    assert set(wanted["search"]) == {"$regex"}
    assert not re.search(wanted["search"]["$regex"], "anything")
