"""Several actions, without threads: a mark, an action, a mark; what is told when it breaks off."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from machine_client.desktop.base import DesktopError, RawFrame
from machine_client.journal.journal import Journal, NumberedEntry
from machine_client.screen.sender import ActionPlace, Sight
from machine_client.work.batch import Sighted
from machine_client.work.injector import InjectionFailed, InjectionUnavailable, Refusal
from machine_client.work.worker import Worker
from schemas.inputs.actions import WaitFor
from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import (
    Completed,
    Expired,
    Failed,
    NotCarriedOut,
    Outcome,
    Refused,
    Stopped,
    Unknown,
    results_of,
)
from schemas.link.messages import Input
from schemas.values.pictures import Region, Size
from tests.links import LINK_ID, about
from tests.machine_client.fakes import HERE, FakeInjector, raising
from tests.machine_client.journals import DiskFullError, JournalMemory

COMMAND = UUID(int=0xA)
NOW, BEGIN_BY = 10.0, 11.0
SEEN, UNSEEN = Sight(0, None, 0.1), Sight(None, None, 0.1)
FRAME = RawFrame(Region(0, 0, 1, 1), Size(1, 1), bytearray(4), NOW)


def move(x: int) -> dict[str, Any]:
    return {"operation": "mouse.move", "x": x, "y": 2}


THREE = [move(1), move(2), move(3)]
PAUSE = {"operation": "wait", "seconds": 5}
CHANGE: dict[str, Any] = {"operation": "wait_for", "any": [{"changed": True}]}
PICTURE = {"operation": "screenshot"}


class Killed(BaseException):
    """SIGKILL: nothing catches it."""


def statuses(outcome: Outcome | None) -> list[str]:
    return [each.status for each in results_of(outcome) or ()]


LETTERS = {"completed": "c", "unknown": "?", "not_begun": "-"}
"""Of each status; another one's first letter stands for it."""


def letters_of(outcome: Outcome | None) -> str:
    """How each action ended, in short."""
    return "".join(LETTERS.get(status, status[0]) for status in statuses(outcome))


class NotedMemory(JournalMemory):
    """Notes each write among what the desktop was told: how each action ended if no more came.

    A star is a write that was flushed, as in ``c?--*``: the first is completed, nobody knows of the
    second, and the others were not begun.
    """

    def __init__(self, notes: list[str]) -> None:
        super().__init__()
        self._notes = notes
        self.full_from: int | None = None
        """Which write is the first that the disk has no room for, from 1."""
        self.killed_after: int | None = None
        """With which write the process ends."""

    def write(self, entries: Sequence[NumberedEntry], *, flush: bool) -> None:
        if self.full_from is not None and len(self.flushes) + 1 >= self.full_from:
            raise DiskFullError("the disk is full")
        super().write(entries, flush=flush)
        self._notes.append(letters_of(entries[0].entry.outcome) + "*" * flush)
        if len(self.flushes) == self.killed_after:
            raise Killed


class FakeEyes:
    """Sees what a test wants, and notes what it was asked."""

    def __init__(self, notes: list[str]) -> None:
        self._notes = notes
        self.frames: list[RawFrame] = []
        self.on_check: Callable[[], None] = lambda: None
        self.sight = SEEN
        self.on_wait: Callable[[], None] = lambda: None

    def check(self, wanted: Sighted) -> None:
        self.on_check()

    def frame(self) -> RawFrame:
        self._notes.append("look")
        self.frames.append(replace(FRAME))
        return self.frames[-1]

    def wait_for(
        self,
        place: ActionPlace,
        wait: WaitFor,
        before: RawFrame | None,
        is_interrupted: Callable[[], bool],
    ) -> Sight:
        found = [number for number, each in enumerate(self.frames) if each is before]
        self._notes.append(f"wait for a change since look {found[0]}" if found else "wait")
        self.on_wait()
        return self.sight

    def take(
        self, command_id: UUID, action: int | None, wanted: Sighted, is_interrupted: object
    ) -> None:
        self._notes.append("picture" if action is None else f"picture {action}")

    def close(self) -> None: ...


class Bench:
    """A worker whose journal, desktop and eyes note all that they are told in one list."""

    def __init__(self) -> None:
        self.desktop = FakeInjector()
        self.notes = self.desktop.calls
        self.memory = NotedMemory(self.notes)
        self.eyes = FakeEyes(self.notes)
        self.now = NOW
        self.worker = self._started()

    def _started(self) -> Worker:
        return Worker(Journal(self.memory), self.desktop, self.eyes, lambda: self.now)

    def carry_out(
        self,
        actions: Sequence[dict[str, Any]] = THREE,
        *,
        fingerprint: str = "f",
        begin_by: float = BEGIN_BY,
        **body: Any,
    ) -> Outcome:
        command = Input(
            link_id=LINK_ID,
            command_id=COMMAND,
            operation=Operation.ACTIONS,
            body={"actions": list(actions), **body},
            fingerprint=fingerprint,
            expires_at=0,
            server_time=0,
        )
        return self.worker.carry_out(command, begin_by).outcome

    def at(self, x: int, what: Callable[[], None]) -> None:
        """Do something at the event of the action that moves there."""

        def do() -> None:
            if self.notes[-1] == f"inject {x}":
                what()

        self.desktop.on_inject = do

    def after_a_kill(self, *, power_cut: bool = False) -> Outcome | None:
        """What the next machine client's journal says."""
        if power_cut:
            self.memory.lose_power()
        self.worker = self._started()
        return self.worker.look_up(about(COMMAND)).outcome


@pytest.fixture
def bench() -> Bench:
    return Bench()


def ended_with(outcome: Outcome, code: str, *expected: str) -> bool:
    assert isinstance(outcome, Failed)
    assert (outcome.code, statuses(outcome)) == (code, list(expected))
    return True


def test_each_action_is_on_disk_as_begun_before_its_event_and_noted_as_done_after(
    bench: Bench,
) -> None:
    outcome = bench.carry_out()
    assert isinstance(outcome, Completed)
    assert outcome.pointer == HERE
    assert statuses(outcome) == ["completed"] * 3
    assert bench.notes == [
        *("?--*", "inject 1", "c--"),
        *("c?-*", "inject 2", "cc-"),
        *("cc?*", "inject 3", "ccc"),
    ]
    assert bench.carry_out() == bench.worker.look_up(about(COMMAND)).outcome == outcome
    assert bench.notes[-1] == "ccc"


def test_mark_of_what_leaves_nothing_behind_is_not_flushed(bench: Bench) -> None:
    bench.desktop.on_pause = lambda _: None
    outcome = bench.carry_out([move(1), PAUSE, PICTURE, move(2)])
    assert isinstance(outcome, Completed)
    assert bench.notes == [
        *("?---*", "inject 1", "c---"),
        *("c---", "cc--"),
        *("cc--", "picture 2", "ccc-"),
        *("ccc?*", "inject 2", "cccc"),
    ]


@pytest.mark.parametrize("power_cut", [False, True])
@pytest.mark.parametrize("x", [1, 2, 3])
def test_killed_at_an_event_only_its_action_is_unknown(
    bench: Bench, x: int, power_cut: bool
) -> None:
    bench.at(x, raising(Killed()))
    with pytest.raises(Killed):
        bench.carry_out()
    outcome = bench.after_a_kill(power_cut=power_cut)
    assert isinstance(outcome, Unknown)
    assert (
        statuses(outcome) == (["completed"] * (x - 1) + ["unknown", "not_begun", "not_begun"])[:3]
    )
    assert bench.carry_out() == outcome
    assert bench.notes[-1] == f"inject {x}"


@pytest.mark.parametrize("writes", range(1, 7))
@pytest.mark.parametrize("power_cut", [False, True])
def test_killed_after_a_mark_it_is_what_is_told_or_the_last_flushed_one_after_a_power_cut(
    bench: Bench, writes: int, power_cut: bool
) -> None:
    bench.memory.killed_after = writes
    with pytest.raises(Killed):
        bench.carry_out()
    written = [note for note in bench.notes if "inject" not in note]
    flushed = [note for note in written if note.endswith("*")]
    outcome = bench.after_a_kill(power_cut=power_cut)
    assert letters_of(outcome) == (flushed if power_cut else written)[-1].rstrip("*")
    assert letters_of(outcome).count("c") <= len(bench.notes) - len(written)
    before = [*bench.notes]
    assert bench.carry_out() == outcome
    assert bench.notes == before


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_all_of_it_is_refused_at_the_place_of_what_cannot_be_done(bench: Bench, wrong: int) -> None:
    prepared: list[None] = []

    def refuse() -> None:
        if len(prepared) == wrong:
            raise Refusal(Refused(code="outside", message="no", loc=("body", "x")))
        prepared.append(None)

    bench.desktop.on_prepare = refuse
    outcome = bench.carry_out()
    assert isinstance(outcome, Refused)
    assert (outcome.code, outcome.loc) == ("outside", ("body", "actions", str(wrong), "x"))
    # Its end is noted, and nothing was begun.
    assert bench.notes == [""]


def test_closing_picture_that_cannot_be_is_refused_at_its_place(bench: Bench) -> None:
    refused = Refused(code="region", message="no", loc=("body", "region"))
    bench.eyes.on_check = raising(Refusal(refused))
    outcome = bench.carry_out(screenshot={})
    assert isinstance(outcome, Refused)
    assert outcome.loc == ("body", "screenshot", "region")
    assert bench.notes == [""]


@pytest.mark.parametrize(
    "error", [InjectionUnavailable("no display"), DesktopError("screen_unavailable", "no display")]
)
def test_nothing_is_begun_where_a_desktop_is_missing(bench: Bench, error: Exception) -> None:
    bench.desktop.on_prepare = raising(error)
    assert bench.carry_out() == Failed(
        code="desktop_unavailable", message="no display", injected_at_least=0
    )
    assert bench.notes == [""]


def test_first_failure_is_the_end(bench: Bench) -> None:
    bench.at(2, raising(InjectionFailed("display_lost", "the screen went", 7)))
    outcome = bench.carry_out()
    assert ended_with(outcome, "display_lost", "completed", "failed", "not_begun")
    assert isinstance(outcome, Failed)
    assert outcome.message == "action 1 (mouse.move): the screen went"
    assert bench.notes == ["?--*", "inject 1", "c--", "c?-*", "inject 2", "cf-"]
    assert bench.carry_out() == outcome


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Refusal(Refused(code="outside", message="no", loc=("body", "x"))), "outside"),
        (InjectionUnavailable("no display"), "desktop_unavailable"),
        (KeyError("a mistake"), "internal_error"),
    ],
)
def test_what_was_right_when_it_was_checked_may_fail_later(
    bench: Bench, error: Exception, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fail_after_the_first() -> None:
        if "inject 1" in bench.notes:
            raise error

    bench.desktop.on_prepare = fail_after_the_first
    with caplog.at_level(logging.ERROR):
        outcome = bench.carry_out()
    assert ended_with(outcome, code, "completed", "failed", "not_begun")
    assert bench.notes[-2:] == ["c?-*", "cf-"]
    assert ("action=1 failed" in caplog.text) is (code == "internal_error")


def test_interrupted_before_the_first_nothing_is_begun(bench: Bench) -> None:
    bench.desktop.interrupted.set()
    outcome = bench.carry_out(screenshot={})
    assert ended_with(outcome, "interrupted", "not_begun", "not_begun", "not_begun")
    assert bench.notes == ["?--*", "---"]


def test_interrupted_between_two_actions_the_next_is_not_begun(bench: Bench) -> None:
    """Nor is a closing picture taken: whoever interrupted waits."""
    bench.at(2, bench.desktop.interrupt)
    outcome = bench.carry_out(screenshot={})
    assert ended_with(outcome, "interrupted", "completed", "completed", "not_begun")
    assert bench.notes[-2:] == ["cc-", "cc-"]


def test_interrupted_within_an_action_it_is_told_so(bench: Bench) -> None:
    bench.at(2, raising(InjectionFailed("interrupted", "it was interrupted", 1)))
    outcome = bench.carry_out()
    assert ended_with(outcome, "interrupted", "completed", "interrupted", "not_begun")


def test_interrupted_within_a_pause_it_is_told_so(bench: Bench) -> None:
    def interrupt(_seconds: float) -> None:
        bench.desktop.interrupt()

    bench.desktop.on_pause = interrupt
    outcome = bench.carry_out([move(1), PAUSE, move(2)])
    assert ended_with(outcome, "interrupted", "completed", "interrupted", "not_begun")
    assert bench.notes == ["?--*", "inject 1", "c--", "c--", "ci-"]


def test_machine_that_slept_between_two_actions_begins_no_other(bench: Bench) -> None:
    def sleep() -> None:
        bench.now = BEGIN_BY + 0.1

    bench.at(2, sleep)
    outcome = bench.carry_out()
    assert ended_with(outcome, "expired", "completed", "completed", "not_begun")
    assert bench.notes[-1] == "cc-"


def test_time_of_actions_own_makes_no_other_late(bench: Bench) -> None:
    def pause(seconds: float) -> None:
        bench.now = BEGIN_BY + seconds

    bench.desktop.on_pause = pause
    assert isinstance(bench.carry_out([move(1), PAUSE, move(2)]), Completed)


def test_late_batch_is_not_begun_and_takes_no_picture(bench: Bench) -> None:
    assert bench.carry_out(begin_by=NOW - 0.1, screenshot={}) == Expired()
    assert bench.notes == ["?--*", ""]


@pytest.mark.parametrize(("full_from", "done"), [(2, 1), (3, 1), (4, 2), (5, 2)])
def test_nothing_is_begun_without_its_mark_and_what_was_done_is_told(
    bench: Bench, full_from: int, done: int
) -> None:
    """The writes: begun, done, begun, done, begun, and the end."""
    bench.memory.full_from = full_from
    outcome = bench.carry_out()
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.message) == ("journal_failed", "the disk is full")
    assert statuses(outcome) == ["completed"] * done + ["not_begun"] * (3 - done)
    assert [note for note in bench.notes if "inject" in note] == ["inject 1", "inject 2"][:done]
    # This process remembers it; the next one hears what the disk honestly knows.
    assert bench.worker.look_up(about(COMMAND)).outcome == outcome
    bench.memory.full_from = None
    assert "-" not in letters_of(bench.after_a_kill(power_cut=True))[:done]


def test_batch_whose_intent_finds_no_room_is_never_begun(bench: Bench) -> None:
    bench.memory.full_from = 1
    outcome = bench.carry_out()
    assert outcome == Failed(code="journal_failed", message="the disk is full", injected_at_least=0)
    assert bench.notes == []
    bench.memory.full_from = None
    assert bench.after_a_kill() == NotCarriedOut()


def test_single_action_without_a_key_waits_for_no_disk(bench: Bench) -> None:
    outcome = bench.carry_out([move(1)], fingerprint="")
    assert isinstance(outcome, Completed)
    assert statuses(outcome) == ["completed"]
    assert bench.notes == ["inject 1"]
    assert bench.memory.flushes == []


def test_events_of_all_actions_count(bench: Bench) -> None:
    bench.desktop.injected = 2
    bench.at(2, raising(Killed()))
    with pytest.raises(Killed):
        bench.carry_out()
    unknown = bench.after_a_kill()
    assert isinstance(unknown, Unknown)
    assert unknown.injected_at_least == 2

    other = Bench()
    other.desktop.injected = 2
    other.at(2, raising(InjectionFailed("display_lost", "gone", 2)))
    failed = other.carry_out()
    assert isinstance(failed, Failed)
    assert failed.injected_at_least == 4


def test_change_is_one_since_before_the_action_that_comes_before(bench: Bench) -> None:
    outcome = bench.carry_out([move(1), CHANGE])
    assert isinstance(outcome, Completed)
    assert bench.notes == [
        "?-*",
        "look",
        "inject 1",
        "c-",
        "c-",
        "wait for a change since look 0",
        "cc",
    ]


def test_each_of_two_waits_has_the_screen_before_the_action_before_it(bench: Bench) -> None:
    bench.carry_out([move(1), CHANGE, CHANGE])
    assert [each for each in bench.notes if "look" in each or "wait" in each] == [
        *("look", "look", "wait for a change since look 0", "wait for a change since look 1"),
    ]


def test_wait_for_a_change_at_the_beginning_has_nothing_before_it(bench: Bench) -> None:
    bench.carry_out([CHANGE, move(1)])
    assert "wait" in bench.notes
    assert not bench.eyes.frames


def test_what_is_not_seen_stops_the_rest(bench: Bench) -> None:
    bench.eyes.sight = UNSEEN
    outcome = bench.carry_out([move(1), CHANGE, move(2)], screenshot={})
    assert isinstance(outcome, Stopped)
    assert statuses(outcome) == ["completed", "not_seen", "not_begun"]
    assert bench.notes[-2:] == ["cn-", "picture"]


def test_what_is_not_seen_stops_nothing_where_it_shall_go_on(bench: Bench) -> None:
    bench.eyes.sight = UNSEEN
    outcome = bench.carry_out([CHANGE | {"on_timeout": "continue"}, move(2)])
    assert isinstance(outcome, Completed)
    assert statuses(outcome) == ["completed", "completed"]


def test_screen_that_goes_fails_the_wait(bench: Bench) -> None:
    bench.eyes.on_wait = raising(DesktopError("display_lost", "the screen went"))
    outcome = bench.carry_out([move(1), CHANGE, move(2)])
    assert ended_with(outcome, "display_lost", "completed", "failed", "not_begun")


def test_pictures_are_taken_in_their_turn_and_the_last_once_all_is_noted(bench: Bench) -> None:
    bench.carry_out([move(1), PICTURE], screenshot={})
    assert bench.notes == ["?-*", "inject 1", "c-", "c-", "picture 1", "cc", "picture"]


def test_wait_that_is_soon_over_leaves_the_next_action_no_more_time(bench: Bench) -> None:
    def sleep(_: float) -> None:
        bench.now += 100

    long = {"operation": "wait_for", "any": [{"still": 0.5}], "timeout": 110}
    bench.desktop.on_pause = sleep
    outcome = bench.carry_out([long, {"operation": "wait", "seconds": 1}, move(1)])
    assert isinstance(outcome, Failed)
    assert outcome.code == "expired"
    assert "inject 1" not in bench.notes


def test_closing_picture_that_fails_in_whatever_way_changes_no_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("too many open files")

    monkeypatch.setattr(bench.eyes, "take", fail)
    outcome = bench.carry_out([move(1)], screenshot={})
    assert isinstance(outcome, Completed)
    assert "inject 1" in bench.notes
