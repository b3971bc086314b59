from datetime import UTC, datetime, timedelta

import pytest

from server.store.times import now
from server.store.trajectories.keeping import (
    LATEST,
    NOTICE,
    pictures_in,
    pictures_until,
    with_pictures,
)
from server.store.trajectories.reviews import StoredReview
from tests.store import there
from tests.trajectories import stored

PICTURE = "0123456789abcdef" * 4
LIFETIME = timedelta(days=90)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f'{{"picture":"{PICTURE}"}}', {PICTURE}),
        (f'{{"crop":{{"picture":"{PICTURE}"}},"a":"{PICTURE}"}}', {PICTURE}),
        (f'{{"picture":"{PICTURE}0"}}', set()),
        (f'{{"picture":"{PICTURE.upper()}"}}', set()),
        (f'{{"text":"see {PICTURE}"}}', set()),
    ],
)
def test_pictures_are_found_wherever_a_step_names_them(text: str, found: set[str]) -> None:
    assert pictures_in([text.encode(), memoryview(b"{}")]) == found


def test_new_trajectory_says_until_when_its_pictures_are_kept() -> None:
    time = now()
    made = stored(trajectory_data=f'[{{"picture":"{PICTURE}"}}]'.encode(), updated_at=time)
    assert with_pictures(made, LIFETIME).pictures_until == time + LIFETIME
    assert with_pictures(made, None).pictures_until is None
    assert with_pictures(stored(), LIFETIME).pictures_until is None
    approved = StoredReview("approved")
    assert pictures_until(stored(has_pictures=True, review=approved), LIFETIME) is None
    old = pictures_until(stored(has_pictures=True), LIFETIME)
    assert there(old) > time + NOTICE - timedelta(minutes=1)
    far = stored(has_pictures=True, updated_at=datetime(9999, 12, 31, 23, tzinfo=UTC))
    assert pictures_until(far, LIFETIME) == LATEST
