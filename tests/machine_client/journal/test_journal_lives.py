"""Whatever happens to a journal: nothing begins twice, and no number and no end is taken back."""

import tempfile
from collections import Counter
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from machine_client.journal.file import JournalFile
from machine_client.journal.journal import EntryState, Journal, JournalStorage
from schemas.inputs.outcomes import Completed, Expired, Outcome, Point, Unknown
from tests.machine_client.journals import JournalMemory

KEYED = {UUID(int=0x10 + number): "f" for number in range(3)}
UNKEYED = {UUID(int=0x20 + number): "" for number in range(3)}
COMMANDS = {**KEYED, **UNKEYED}

commands = st.sampled_from(sorted(COMMANDS))
counts = st.integers(1, 100)


class JournalLife(RuleBasedStateMachine):
    """One journal through everything that a machine client does, and through its crashes.

    A crash forgets what no key can repeat and was not written; its id never comes again, as it
    was random, so here it counts as another command's from then on.
    """

    def __init__(self) -> None:
        super().__init__()
        self.storage = self.open_storage()
        self.journal = Journal(self.storage)
        self.begun: Counter[UUID] = Counter()
        self.told = self.journal.position
        self.ends: dict[UUID, Outcome] = {}
        self.progressed: dict[UUID, int] = {}
        self.running: set[UUID] = set()

    def open_storage(self) -> JournalStorage:
        return JournalMemory()

    def reopened(self) -> JournalStorage:
        """The same storage, as the next process finds it after a crash."""
        return self.storage

    @rule(command=commands)
    def intend(self, command: UUID) -> None:
        if self.journal.intend(command, COMMANDS[command]):
            self.begun[command] += 1
            if COMMANDS[command]:  # Of what no key can repeat, no progress is noted.
                self.running.add(command)

    @rule(command=commands, milliseconds=counts)
    def finish(self, command: UUID, milliseconds: int) -> None:
        outcome = Completed(duration_ms=milliseconds, pointer=Point(x=0, y=0))
        self.journal.finish(command, outcome)

    @rule(command=commands)
    def refuse(self, command: UUID) -> None:
        self.journal.refuse(command, COMMANDS[command], Expired())

    @rule(command=commands)
    def bar(self, command: UUID) -> None:
        was_known = self.journal.find(command) is not None
        assert self.journal.bar(command) is not was_known

    @rule(command=commands, injected=counts)
    def progress(self, command: UUID, injected: int) -> None:
        self.journal.progress(command, Unknown(injected_at_least=injected))
        written = self.storage.find(command)
        begun = written is not None and written.state is EntryState.INTENT
        # What an earlier process began does not run any more.
        if begun and command in self.running:
            self.progressed[command] = injected

    @rule()
    def mark(self) -> None:
        assert self.journal.mark().sequence == self.told.sequence + 1

    @rule()
    def settle(self) -> None:
        self.journal.settle()

    @rule()
    def kill(self) -> None:
        self.storage = self.reopened()
        self.journal = Journal(self.storage)
        self.running.clear()
        for lost in [each for each in UNKEYED if self.journal.find(each) is None]:
            self.ends.pop(lost, None)
            del self.begun[lost]

    @invariant()
    def nothing_begins_twice(self) -> None:
        assert not [command for command, times in self.begun.items() if times > 1]

    @invariant()
    def what_has_begun_is_known(self) -> None:
        for command, times in self.begun.items():
            if times:
                entry = self.journal.find(command)
                assert entry is not None
                assert entry.state in (EntryState.INTENT, EntryState.DONE)

    @invariant()
    def number_never_goes_back(self) -> None:
        position = self.journal.position
        assert position.id == self.told.id
        assert position.sequence >= self.told.sequence
        self.told = position

    @invariant()
    def no_end_ever_changes(self) -> None:
        for command in COMMANDS:
            entry = self.journal.find(command)
            if entry is not None and entry.state is EntryState.INTENT:
                so_far = Unknown(injected_at_least=self.progressed.get(command, 0))
                assert entry.final_outcome() == so_far
                assert command not in self.ends
            elif entry is not None:
                outcome = entry.final_outcome()
                assert self.ends.setdefault(command, outcome) == outcome
            else:
                assert command not in self.ends


class JournalLifeOnDisk(JournalLife):
    """The same with SQLite and a file; a crash leaves the file as the kernel has it."""

    def open_storage(self) -> JournalStorage:
        self.directory = tempfile.TemporaryDirectory()
        return JournalFile(Path(self.directory.name) / "journal")

    def reopened(self) -> JournalStorage:
        self.storage.close()  # and not the journal, which would write what gathered
        return JournalFile(Path(self.directory.name) / "journal")

    def teardown(self) -> None:
        self.storage.close()
        self.directory.cleanup()


@pytest.mark.parametrize(
    ("life", "examples"), [(JournalLife, 300), (JournalLifeOnDisk, 60)], ids=["memory", "disk"]
)
def test_nothing_begins_twice_and_nothing_is_taken_back(
    life: type[JournalLife], examples: int
) -> None:
    run_state_machine_as_test(
        life,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
