"""What HTTP says of commands, for tests below it."""

from server.api.machines.answers import Answer, answer_to
from server.dispatch.ledger.resolver import end_of
from server.store.commands import CommandRecord


def answer_of(record: CommandRecord) -> Answer | None:
    """What whoever asks again is answered, where the command has ended."""
    ended = end_of(record)
    return None if ended is None else answer_to(ended)
