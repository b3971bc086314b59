"""Pictures go when it was said, and none that anybody needs: the rules, on a real database."""

import json
import logging
from datetime import timedelta

import pytest

from schemas.http.queries import PageQuery
from schemas.steps.changes import ChangedStep
from server.store.mongodb.database import Database
from server.store.times import now
from server.store.trajectories.keeping import NOTICE
from server.trajectories.editing import StepEditing
from tests.kept_pictures import LIFETIME, REVIEWER, Shelf, content_of
from tests.store import ORGANIZATION, there
from tests.trajectories import EDITOR, change

KIB = 1024


async def test_pictures_go_when_it_was_said_and_the_steps_say_so(database: Database) -> None:
    shelf = Shelf(database)
    kept, shared, own = [await shelf.picture(number) for number in range(3)]
    old, young = await shelf.trajectory(own, shared), await shelf.trajectory(shared, kept)
    assert old.pictures_until == old.updated_at + LIFETIME
    await shelf.age()
    await shelf.keeping().round()
    assert all(await shelf.there(kept, shared, own))
    await shelf.end_time(old)
    keeping = shelf.keeping()
    await keeping.round()
    # The one that another trajectory shows as well stays.
    assert await shelf.there(kept, shared, own) == [True, True, False]
    assert (keeping.removed, keeping.removed_bytes, keeping.size) == (1, 1000, 2000)
    after = await shelf.present(old)
    assert after.pictures_until is None
    assert after.pictures_expired_at is not None
    assert (after.updated_at, after.content_hash) == (old.updated_at, old.content_hash)
    assert after.version > old.version
    editing = StepEditing(shelf.library.store, shelf.pictures, shelf.library.transactions)
    _, page = await editing.page(ORGANIZATION, old.id, PageQuery())
    answered = json.loads(b"".join([chunk async for chunk in page]))["items"]
    assert [each["pictures_gone"] for each in answered] == ["expired", None]
    # The last one that shows it goes as well, and then the picture.
    await shelf.end_time(young)
    await keeping.round()
    assert not any(await shelf.there(kept, shared, own))


async def test_pictures_of_what_is_approved_stay_and_a_withdrawal_counts_anew(
    database: Database,
) -> None:
    shelf = Shelf(database)
    picture = await shelf.picture(1)
    made = await shelf.trajectory(picture)
    await shelf.approve(made)
    assert (await shelf.present(made)).pictures_until is None
    await shelf.age()
    await shelf.end_time(made)
    await shelf.keeping(most_bytes=1).round()
    assert await shelf.there(picture) == [True]
    await shelf.library.trajectories.change(
        ORGANIZATION, REVIEWER, made.id, change(is_approved=False)
    )
    until = there((await shelf.present(made)).pictures_until)
    assert until > now() + LIFETIME - timedelta(hours=1)


async def test_time_counts_anew_from_a_change_that_comes_before_it_is_over(
    database: Database,
) -> None:
    shelf = Shelf(database)
    picture = await shelf.picture(1)
    made = await shelf.trajectory(picture)
    await shelf.age()
    await shelf.end_time(made)
    await shelf.library.change(ORGANIZATION, made.id, change(name="still of use"))
    await shelf.keeping().round()
    assert await shelf.there(picture) == [True]


async def test_what_was_imported_with_old_times_is_told_before_it_goes(database: Database) -> None:
    shelf = Shelf(database)
    picture = await shelf.picture(1)
    old = "2020-01-01T00:00:00Z"
    made = await shelf.trajectory(picture, created_at=old, updated_at=old)
    assert there(made.pictures_until) > now() + NOTICE - timedelta(hours=1)
    far = await shelf.trajectory(picture, updated_at="9999-12-31T23:59:59Z")
    assert there(far.pictures_until).year == 9999


async def test_largest_of_all_is_told_a_week_before_room_is_made(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    shelf = Shelf(database, lifetime=None)
    pictures = [await shelf.picture(number, KIB) for number in range(5)]
    made = [await shelf.trajectory(each) for each in pictures]
    await shelf.approve(made[0])
    assert [each.pictures_until for each in made] == [None] * 5
    await shelf.age()
    keeping = shelf.keeping(most_bytes=3 * KIB)
    with caplog.at_level(logging.WARNING):
        await keeping.round()
        await keeping.round()
    # Two of five are too many: those that were not changed for the longest, but what is approved.
    until = [(await shelf.present(each)).pictures_until for each in made]
    assert [each is not None for each in until] == [False, True, True, False, False]
    assert there(until[1]) > now() + NOTICE - timedelta(hours=1)
    assert all(await shelf.there(*pictures))
    told = [each for each in caplog.messages if "pictures of 2 trajectories go within 7" in each]
    assert len(told) == 1
    outlook = await keeping.outlook(ORGANIZATION, NOTICE, PageQuery(), None)
    assert [each.id for each in outlook.items] == [made[1].id, made[2].id]
    assert (outlook.total, outlook.bytes, outlook.most_bytes) == (2, 5 * KIB, 3 * KIB)
    assert keeping.going == 2
    await shelf.end_time(*made)
    await keeping.round()
    assert await shelf.there(*pictures) == [True, False, False, True, True]


async def test_approved_pictures_that_are_too_many_are_told_to_the_log(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    shelf = Shelf(database)
    made = await shelf.trajectory(await shelf.picture(1, 3 * KIB))
    await shelf.approve(made)
    with caplog.at_level(logging.WARNING):
        await shelf.keeping(most_bytes=KIB).round()
    assert "has 3072 bytes of pictures, 2048 more than picture_storage, of which 2048 stay" in (
        caplog.text
    )


async def test_other_lifetime_holds_for_what_is_there_after_notice(database: Database) -> None:
    first = Shelf(database, lifetime=None)
    made = await first.trajectory("0" * 64)
    await first.keeping().round()
    for lifetime, wanted in (
        (timedelta(days=90), timedelta(days=90)),
        (timedelta(days=1), NOTICE),
        (None, None),
    ):
        shelf = Shelf(database, lifetime)
        await shelf.keeping().round()
        until = (await shelf.present(made)).pictures_until
        if wanted is None:
            assert until is None
        else:
            assert abs(there(until) - now() - wanted) < timedelta(hours=1)


async def test_whoever_duplicates_edits_or_deletes_leaves_what_others_need(
    database: Database,
) -> None:
    shelf = Shelf(database)
    first, second, third = [await shelf.picture(number) for number in range(3)]
    made = await shelf.trajectory(first, second)
    answer = await shelf.library.trajectories.duplicate(ORGANIZATION, EDITOR, made.id, None)
    editing = StepEditing(shelf.library.store, shelf.pictures, shelf.library.transactions)
    await editing.remove(ORGANIZATION, EDITOR, made.id, 2)
    changed = ChangedStep.model_validate({"target": {"crop": crop_of(third)}})
    await editing.change(ORGANIZATION, EDITOR, made.id, 1, changed)
    await shelf.age()
    await shelf.library.delete(ORGANIZATION, answer.id)
    keeping = shelf.keeping()
    await keeping.round()
    # Only the copy still showed the second one.
    assert await shelf.there(first, second, third) == [True, False, True]
    await shelf.library.delete(ORGANIZATION, made.id)
    await keeping.round()
    assert not any(await shelf.there(first, second, third))
    assert await database.collection("picture_uses").count_documents({}) == 0
    assert await database.collection("picture_removals").count_documents({}) == 0


def crop_of(picture: str) -> dict[str, object]:
    return {"picture": picture, "area": {"x": 0, "y": 0, "width": 10, "height": 10}}


async def test_what_was_used_of_late_or_by_a_halt_stays_for_now(database: Database) -> None:
    shelf = Shelf(database)
    late, of_halt, sent_again = [await shelf.picture(number) for number in range(3)]
    made = await shelf.trajectory(late, of_halt, sent_again)
    await shelf.age(of_halt, sent_again)
    await shelf.pictures.add(ORGANIZATION, "image/png", content_of(1), "machine", LIFETIME)
    await shelf.picture(2)
    await shelf.end_time(made)
    keeping = shelf.keeping()
    await keeping.round()
    assert await shelf.there(late, of_halt, sent_again) == [True, True, True]
    await shelf.age()
    await keeping.round()
    assert await shelf.there(late, of_halt, sent_again) == [False, True, False]


async def test_steps_written_after_the_pictures_expired_count_what_is_there(
    database: Database,
) -> None:
    shelf = Shelf(database)
    gone, again = await shelf.picture(1), await shelf.picture(2)
    made = await shelf.trajectory(gone)
    await shelf.age(gone)
    await shelf.end_time(made)
    await shelf.keeping().round()
    editing = StepEditing(shelf.library.store, shelf.pictures, shelf.library.transactions)
    await editing.change(
        ORGANIZATION, EDITOR, made.id, 1, ChangedStep.model_validate({"name": "One"})
    )
    assert (await shelf.present(made)).pictures_until is None
    target = {"target": {"crop": crop_of(again)}}
    await editing.change(ORGANIZATION, EDITOR, made.id, 1, ChangedStep.model_validate(target))
    assert (await shelf.present(made)).pictures_until is not None


async def test_what_no_trajectory_ever_named_goes_by_its_age(database: Database) -> None:
    shelf = Shelf(database)
    old, young = await shelf.picture(1), await shelf.picture(2)
    await shelf.age(old)
    await shelf.keeping().round()
    assert await shelf.there(old, young) == [False, True]
