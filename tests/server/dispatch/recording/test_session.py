"""How much of what was done is written at once."""

from uuid import uuid4

from server.dispatch.recording.drafts import Draft
from server.dispatch.recording.session import MOST_AT_ONCE, MOST_CHARACTERS, together


def typed(characters: int) -> Draft:
    """A text of so many characters."""
    return Draft(
        command_id=uuid4(),
        index=0,
        sender=None,
        through="api",
        operation="keyboard.type",
        body={},
        began=0,
        ended=0,
        text="語" * characters,
    )


def test_so_many_steps_are_written_at_once_as_fit_into_a_document() -> None:
    short = [typed(1)] * (MOST_AT_ONCE + 1)
    assert len(together(short)) == MOST_AT_ONCE
    long = [typed(MOST_CHARACTERS // 3)] * 4
    assert len(together(long)) == 2
    # One that is longer by itself is not left waiting for ever.
    assert len(together([typed(MOST_CHARACTERS + 1), typed(1)])) == 1
    assert together([]) == []
