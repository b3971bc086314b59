"""Which command each text that was copied belongs to: by the text, which no other command has.

What a selection had for too short a time to be asked belongs to a command that may have been at
work then, and of which nothing else was seen.  There may be none: then it is nobody's.
"""

from collections.abc import Sequence

from tests.faults.arrivals import Copy
from tests.faults.attribution import Attribution, Occurrence
from tests.faults.history import (
    CLOCKS_DIFFER_SECONDS,
    NEVER,
    NOTHING_HAPPENED,
    CommandHistory,
)


def attribute_copies(
    copies: Sequence[Copy], commands: Sequence[CommandHistory], seen: Attribution
) -> list[Copy]:
    """Count each as a time that its command happened; those that are nobody's."""
    owners = {
        body.copied: (command, body)
        for command in commands
        for body in (command.other_input, command.input)
        if body.copied is not None
    }
    unknown, strays = [], []
    for copy in copies:
        if copy.text is None:
            unknown.append(copy)
        elif (found := owners.get((copy.selection, copy.text))) is not None:
            command, body = found
            seen.occurrences[command.key].append(Occurrence(command, body))
        else:
            strays.append(copy)
    return strays + [copy for copy in unknown if not _is_taken(copy, commands, seen)]


def _is_taken(copy: Copy, commands: Sequence[CommandHistory], seen: Attribution) -> bool:
    """Give a copy without a text to the command that needs it most; False where none may have it.

    That is one that was completed before one of which nobody knows, and of two the one that ended
    first: it could take fewer others.
    """
    may_have_it = [
        command
        for command in commands
        if command.input.copied is not None
        and command.input.copied[0] == copy.selection
        and not seen.of(command)
        and _was_at_work(command, copy.at)
    ]
    if not may_have_it:
        return False
    chosen = min(may_have_it, key=lambda each: (not _is_completed(each), each.until_answered()[1]))
    seen.occurrences[chosen.key].append(Occurrence(chosen, chosen.input))
    return True


def _was_at_work(command: CommandHistory, at: float) -> bool:
    """Whether it may have happened then, as far as its answers say."""
    begin, end = command.until_answered()
    final = command.first_final()
    if final is not None and (final.status == 422 or final.problem in NEVER):
        return False
    if final is None and not command.is_keyed:
        if any(each.problem in NOTHING_HAPPENED for each in command.tries):
            return False
        # Nobody sends it again, but it may wait for its turn.
        end = max((look.ended_at for look in command.looks), default=end)
    return begin - CLOCKS_DIFFER_SECONDS <= at <= end + CLOCKS_DIFFER_SECONDS


def _is_completed(command: CommandHistory) -> bool:
    final = command.first_final()
    return final is not None and final.status == 200
