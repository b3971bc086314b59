"""Which texts that stand on recorded pictures are other ones in a run."""

from collections.abc import Sequence

from schemas.steps.step import Step
from server.dispatch.questions.pictures import MOST_TYPED, TypedText


def typed_in(steps: Sequence[Step]) -> tuple[TypedText, ...]:
    """The newest that these typed with the run's own values, by the pictures that were recorded."""
    found = [
        TypedText(before=each.picture, after=each.picture_after)
        for each in steps
        if each.parameters and each.picture is not None and each.picture_after is not None
    ]
    return tuple(found[-MOST_TYPED:])
