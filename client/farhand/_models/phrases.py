"""What a model reads where an action did not come to its end: these sentences and no others.

A model reads what it is told as it reads a screen.  So nothing of the inside is in them, no address
and no name, nothing that was typed, and nothing that another program has chosen.
"""

from collections.abc import Iterable, Mapping

NOT_AVAILABLE = (
    "Not done: this action is not available here. This is a desktop: use what the screen shows."
)
OUTSIDE = "Not done: the coordinate is outside of the screenshot."
NO_SUCH_KEY = "Not done: there is no such key or key combination here."
NOT_TYPEABLE = "Not done: the text is too long, or has a character that no key types here."
UNUSABLE = "Not done: the values of this action cannot be used."
NOT_ALLOWED = "Not done: the user did not allow this action. Do not try it again unless asked to."
NOT_BEGUN = "Not done: the computer was busy for too long. Nothing happened."
NOT_EXECUTED = "Not executed: an earlier action of this turn did not succeed."
FAILED = "This action failed, and a part of it may have happened: look at the screen."
INTERRUPTED = "This action was interrupted, and a part of it may have happened: look at the screen."
UNKNOWN = "Nobody can know whether this action happened: look at the screen before you go on."
UNREACHABLE = "The computer cannot be reached. Stop here."

_OF_REFUSALS: Mapping[str, str] = {
    "outside_picture": OUTSIDE,
    "coordinates_outside_display": OUTSIDE,
    "key_combination": NO_SUCH_KEY,
    "not_a_modifier": NO_SUCH_KEY,
    "modifier_repeated": NO_SUCH_KEY,
    "text_not_typeable": NOT_TYPEABLE,
    "text_takes_too_long": NOT_TYPEABLE,
    "texts_too_long": NOT_TYPEABLE,
    "button_unavailable": NOT_AVAILABLE,
}
_OF_ENDS: Mapping[str, str] = {
    "failed": FAILED,
    "not_seen": FAILED,
    "interrupted": INTERRUPTED,
    "unknown": UNKNOWN,
    "not_begun": NOT_EXECUTED,
}


def of_refusal(types: Iterable[str]) -> str:
    """Why nothing of an action happened, by the types of what was wrong with it."""
    return next((_OF_REFUSALS[each] for each in types if each in _OF_REFUSALS), UNUSABLE)


def of_end(status: str) -> str:
    """How an action ended that is not completed."""
    return _OF_ENDS.get(status, FAILED)
