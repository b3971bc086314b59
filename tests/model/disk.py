"""What befalls the machine: kills, reboots, and what happens to its journal's file."""

from collections.abc import Iterator

from tests.model.links import end_of_machine_link, spend, with_machine
from tests.model.protocol import World
from tests.model.state import COMPLETED, RESULTS, TOMBSTONE, Journal, Machine, State, Step

FOREIGN_JOURNAL_SEQUENCE = 40
"""Where another journal stands: far on, so that only its id tells."""


def disk_steps(world: World, state: State) -> Iterator[Step]:
    """Everything that can befall the machine client's process, its disk, or all of the machine."""
    faults, machine = state.faults, state.machine
    if faults.machine_kills:
        killed = spend(_killed(world, state), machine_kills=faults.machine_kills - 1)
        yield Step("machine client is killed", True, killed)
    if faults.reboots:
        rebooted = _rebooted(_killed(world, state))
        if rebooted.machine.journal.entry in (None, TOMBSTONE):
            rebooted = _lost(rebooted)
        yield Step("machine reboots", True, spend(rebooted, reboots=faults.reboots - 1))
    if faults.replacements:
        fresh = Journal(machine.journal.id + 1, FOREIGN_JOURNAL_SEQUENCE, None, 0, None)
        replaced = _with_journal(_lost(_killed(world, state)), fresh)
        replaced = spend(replaced, replacements=faults.replacements - 1)
        yield Step("the journal is replaced by another", True, replaced)
    for copy in machine.copies:
        name = f"copy {copy.sequence} of the journal"
        if faults.restores:
            restored = _put_back(world, spend(state, restores=faults.restores - 1), copy)
            yield Step(f"{name} is put back", True, restored)
        if faults.image_restores:
            rest = spend(state, image_restores=faults.image_restores - 1)
            restored = _rebooted(_put_back(world, rest, copy))
            yield Step(f"{name} is put back with the machine's image, and boots", True, restored)


def copied(world: World, state: State) -> Machine:
    """The machine before its journal changes: with a copy, if there was a moment to make one.

    There is none, unless the configuration allows it, after the mark and before the INTENT, nor
    while several actions run: it would say that those are not begun which come after it.
    """
    machine, faults = state.machine, state.faults
    if not (faults.restores or faults.image_restores):
        return machine
    journal = machine.journal
    if not world.configuration.is_keyed:
        journal = journal._replace(entry=journal.flushed_entry)
    copy = journal._replace(flushed_sequence=0, flushed_entry=None, flushed_marks=())
    is_up = machine.link is not None and machine.link.is_up
    configuration = world.configuration
    may = not is_up or copy.entry is not None or configuration.copies_while_up
    if machine.running and configuration.actions > 1:
        may = configuration.copies_while_running
    if may and copy not in machine.copies:
        return machine._replace(copies=(*machine.copies, copy))
    return machine


def _killed(world: World, state: State) -> State:
    interrupted = state.seen.was_interrupted or state.machine.running > 0
    state = end_of_machine_link(
        world, state._replace(seen=state.seen._replace(was_interrupted=interrupted))
    )
    machine = state.machine._replace(running=0, is_queued=False, is_interrupted=False)
    if not world.configuration.is_keyed:
        journal = machine.journal._replace(entry=machine.journal.flushed_entry)
        machine = machine._replace(journal=journal)
    return with_machine(state, machine)


def settled(world: World, state: State) -> State:
    """What has no key is written when there is time: then it outlives a kill."""
    journal = state.machine.journal
    sequence = journal.sequence + world.configuration.counts
    journal = journal._replace(sequence=sequence, flushed_entry=journal.entry)
    return with_machine(state, copied(world, state)._replace(journal=journal))


def _lost(state: State) -> State:
    """From here on every link that was opened before may have sent what nobody knows any more."""
    return state._replace(seen=state.seen._replace(lost_epoch=state.epoch))


def _rebooted(state: State) -> State:
    """Start anew, with that much of the journal as was on disk."""
    journal = state.machine.journal
    is_result = journal.entry == COMPLETED or journal.entry in RESULTS
    forgets_done = is_result and journal.flushed_entry != journal.entry
    seen = state.seen._replace(was_interrupted=state.seen.was_interrupted or forgets_done)
    journal = journal._replace(
        sequence=journal.flushed_sequence,
        entry=journal.flushed_entry,
        marks=journal.flushed_marks,
    )
    machine = state.machine._replace(journal=journal, boot=state.machine.boot + 1)
    return with_machine(state._replace(seen=seen), machine)


def _put_back(world: World, state: State, copy: Journal) -> State:
    """Put a copy in the place of the journal, of which another copy is kept if one can be put back.

    So each of two branches may be given up and gone on with, in turn.
    """
    killed = _lost(_killed(world, state))
    branches = copied(world, killed).copies if state.faults.restores else ()
    restored = _with_journal(killed, copy)
    return with_machine(restored, restored.machine._replace(copies=branches))


def _with_journal(state: State, journal: Journal) -> State:
    """Put a journal, which is on disk as it is, in the place of the present one."""
    settled = journal._replace(
        flushed_sequence=journal.sequence,
        flushed_entry=journal.entry,
        flushed_marks=journal.marks,
    )
    return with_machine(state, state.machine._replace(journal=settled, copies=()))


def written(world: World, journal: Journal, entry: str, *, flushed: bool) -> Journal:
    """The journal with an entry for the command in the place of what was there."""
    if not world.configuration.is_keyed and entry != TOMBSTONE:
        return journal._replace(entry=entry)
    sequence = journal.sequence + world.configuration.counts
    if flushed:
        return Journal(journal.id, sequence, entry, sequence, entry, journal.marks, journal.marks)
    return journal._replace(sequence=sequence, entry=entry)
