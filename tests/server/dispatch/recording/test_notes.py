"""What was carried out, until it is written."""

import pytest

from schemas.inputs.bodies import ClickMouse, MoveMouse, TypeText
from schemas.inputs.outcomes import Completed, Point
from schemas.link.messages import Display
from server.dispatch.command import Command, Ended, Pending, Sender
from server.dispatch.fingerprints import Fingerprints
from server.dispatch.recording import notes as notes_module
from server.dispatch.recording.drafts import PENDING
from server.dispatch.recording.notes import OVERFLOW, Notes, Taken
from server.store.recordings.writes import step_key
from tests.server.dispatch.recording.hands import SENDER

PROGRAM = Sender(SENDER.organization_id, SENDER.token_id, SENDER.token_name, "a request")
PRINTS = Fingerprints(b"secret")


def command(x: int) -> Command:
    return Command.accept(PROGRAM, "desk", MoveMouse(x=x, y=0), fingerprints=PRINTS, timeout=30)


def completed(sent: Command, at: int) -> Ended:
    return Ended.of(sent, Completed(duration_ms=2, pointer=Point(x=0, y=0)), at)


@pytest.fixture
def notes() -> Notes:
    return Notes(keep_texts=False, since=0)


def places(notes: Notes) -> list[int | None]:
    return [draft.body.get("x") for draft in notes.open]


def test_steps_stand_in_the_order_in_which_they_ended(notes: Notes) -> None:
    for x, at in ((1, 1000), (3, 3000), (2, 2000)):
        sent = command(x)
        notes.ended(Taken(sent, None), completed(sent, at), at)
    assert places(notes) == [1, 2, 3]
    over = notes.over(2500, settled=500)
    assert [draft.body["x"] for draft in over] == [1, 2]
    assert notes.begin_of_next(over[0]) == 1998
    notes.forget(over)
    assert places(notes) == [3]


def test_same_input_is_noted_once_and_one_of_before_never(notes: Notes) -> None:
    sent = command(1)
    for _ in range(2):
        notes.ended(Taken(sent, None), completed(sent, 1000), 1000)
    assert places(notes) == [1]
    later = Notes(keep_texts=False, since=sent.accepted_at + 1)
    later.ended(Taken(sent, None), completed(sent, 1000), 1000)
    assert not later.open


def test_what_nobody_knows_the_end_of_is_a_gap(notes: Notes) -> None:
    sent = command(1)
    notes.ended(Taken(sent, None), Pending(command_id=sent.id), 1000)
    assert [draft.body["reason"] for draft in notes.open] == [PENDING]
    # What is told later is not taken for the gap.
    notes.ended(Taken(sent, None), completed(sent, 2000), 2000)
    pending, told = notes.open
    assert told.body["x"] == 1
    assert (pending.command_id, pending.index) != (told.command_id, told.index)


def test_what_was_pending_is_a_step_of_its_own_once_its_end_is_known(notes: Notes) -> None:
    sent = command(1)
    notes.ended(Taken(sent, None), Pending(command_id=sent.id), 1000)
    notes.ended(Taken(sent, None), completed(sent, 2000), 2000)
    pending, done = notes.open
    assert (pending.is_gap, done.is_gap) == (True, False)
    # One that is there under the key of the other would be taken for the same.
    assert step_key(pending.command_id, pending.index) != step_key(done.command_id, done.index)


def test_few_steps_wait_and_those_that_did_not_fit_are_marked(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notes_module, "MOST_WAITING", 2)
    for x in range(4):
        sent = command(x)
        notes.ended(Taken(sent, None), completed(sent, 1000 + x), 1000 + x)
    assert places(notes) == [0, 1]
    notes.forget(notes.over(2000, settled=0))
    # Also where nothing comes behind them.
    assert [draft.body.get("reason") for draft in notes.open] == [OVERFLOW]
    sent = command(9)
    notes.ended(Taken(sent, None), completed(sent, 3000), 3000)
    assert [draft.body.get("reason") for draft in notes.open] == [OVERFLOW, None]


def test_gap_says_where_a_part_of_it_may_have_typed_what_is_said_to_be_secret(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = Command.accept(PROGRAM, "desk", TypeText(text="a"), fingerprints=PRINTS, timeout=30)
    for sent, at in ((command(1), 1000), (typed, 2000)):
        notes.ended(Taken(sent, None, is_said_secret=True), Pending(command_id=sent.id), at)
    assert [draft.is_said_secret for draft in notes.open] == [False, True]
    monkeypatch.setattr(notes_module, "MOST_WAITING", 2)
    for is_said, at in ((True, 3000), (False, 4000)):
        sent = command(at)
        notes.ended(Taken(sent, None, is_said_secret=is_said), completed(sent, at), at)
    notes.forget(notes.open)
    assert [(draft.is_gap, draft.is_said_secret) for draft in notes.open] == [(True, True)]


def test_another_hand_goes_on_with_nothing_of_the_one_before(notes: Notes) -> None:
    for request, down in (("one", True), ("other", False)):
        sender = Sender(SENDER.organization_id, SENDER.token_id, "a hand", request, in_segment=True)
        body = ClickMouse(x=1, y=1, down=down)
        sent = Command.accept(sender, "desk", body, fingerprints=PRINTS, timeout=30)
        notes.ended(Taken(sent, None), completed(sent, 1000), 1000)
    notes.close()
    assert [draft.body["down"] for draft in notes.open] == [True, False]


def test_desktop_is_marked_where_its_size_changes_and_nowhere_else(notes: Notes) -> None:
    small, large = Display(x=0, y=0, width=1, height=1), Display(x=0, y=0, width=2, height=2)
    for display in (small, small, large):
        notes.desktop_is([display], 1000)
    (marked,) = notes.open
    assert "2 x 2" in marked.body["reason"]
