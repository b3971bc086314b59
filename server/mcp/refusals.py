"""What a model is told when something goes wrong: fixed sentences that say what to do next.

Nothing of the server's inside is in them, and nothing that was typed.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from farhand import (
    FarhandError,
    Forbidden,
    InvalidRequest,
    MachineUnavailable,
    NoAnswer,
    NotFarhand,
    Problem,
)
from schemas.values.validation_errors import MAX_ENTRIES

LOOK: Final = "Take a screenshot before you go on."
SAME_KEY: Final = "Call again with the same arguments and the idempotency_key, if there is one"

SENTENCES: Final[Mapping[str, str]] = {
    "unauthenticated": "The token is not valid, or not any more. Nothing was done.",
    "not-found": (
        "There is no such machine. list_machines says which there are. Or no such recording or run."
    ),
    "control-ended": "Somebody else has control of the machine. Nothing was done.",
    "recording-ended": "The recording that this belongs to has ended. Nothing was done.",
    "wrong-state": "There are as many recordings, requests for help or runs as may be. "
    "Nothing was done.",
    "machine-busy": f"Too many inputs wait for this machine. Wait. {SAME_KEY}.",
    "too-many-streams": "Too many waits or pictures at once. Nothing was done; try again later.",
    "body-too-large": "That is too much for one call. Nothing was done; send less.",
    "idempotency-key-in-progress": f"The first call with this key still runs. Wait. {SAME_KEY}.",
    "outcome-pending": f"The machine has not answered yet, and it may have been done. {SAME_KEY}.",
    "storage-unavailable": f"The server's database does not answer. {SAME_KEY}.",
    "not-carried-out": "It did not reach the machine and never will. Call again if it is wanted.",
    "input-expired": "The machine could not begin in time. Nothing was done, nor will be.",
    "input-failed": f"The machine tried and failed; a part may have been done. {LOOK}",
    "outcome-unknown": f"Nobody can know whether it was done, and it is not tried again. {LOOK}",
    "actions-stopped": "The screen did not show what was waited for or meant; the rest is not "
    f"done. {LOOK}",
    "element-missing": "There is no such element that can be used now. Nothing was done; "
    "find_elements says which there are.",
    "element-ambiguous": "Several elements are like this, so nothing was done. Say more of it, "
    "such as its window.",
    "no-elements": "The machine's programs do not tell what elements they have. Nothing was done; "
    "use places.",
    "not-installed": "The server lacks what this needs, such as what reads texts on screens. "
    "Nothing was done.",
    "clipboard-unreadable": "What was copied last on the machine is no text, or cannot be read.",
    "server-stopping": f"The server is stopping. Wait. {SAME_KEY}.",
    "server-busy": f"The server is busy. Wait. {SAME_KEY}.",
    "internal-error": f"The server made a mistake. {LOOK}",
}
"""What is said of each problem, by its name."""

UNAVAILABLE: Final[Mapping[str, str]] = {
    "offline": "It is not connected.",
    "unreachable": "The server cannot reach it.",
    "paused": "A person paused it.",
    "controlled": "A person has control of it.",
    "private": "Somebody has private control of it, and nobody else sees anything of it.",
    "run": "A run is at work on it.",
    "no_input": "Its desktop takes no input: it may be locked.",
    "no_screen": "Its screen cannot be seen.",
    "no_clipboard": "Its clipboard cannot be used.",
    "no_vision": "Nobody can look for texts and pictures on its screen now.",
    "no_elements": "It did not tell in time what elements it has.",
    "settling": "It has just connected; try again in a moment.",
    "not_interrupted": "What runs on it did not end.",
}
"""What is said of each reason why a machine is unavailable."""

UNFORESEEN: Final = f"Farhand made a mistake. {LOOK}"


class ToolRefusedError(Exception):
    """A tool was not called as it can be; the text is for the model."""


def wrong_arguments(error: ValidationError) -> ToolRefusedError:
    """What was wrong with the arguments of a tool; no value is repeated."""
    errors = error.errors(include_url=False, include_input=False, include_context=False)
    return ToolRefusedError(_wrong((each["loc"], each["msg"]) for each in errors[:MAX_ENTRIES]))


def _wrong(parts: Iterable[tuple[Iterable[object], str]]) -> str:
    said = (
        f"{'.'.join(map(str, place))}: {message}".removeprefix(": ") for place, message in parts
    )
    return f"Wrong arguments, so nothing was done. {'; '.join(said)}."


def sentence(error: FarhandError) -> str:
    """What a model is told of an error."""
    match error:
        case InvalidRequest():
            return _wrong((part.loc[1:], part.message) for part in error.wrong)
        case Forbidden():
            scope = error.members.get("scope")
            why = "does not allow this" if scope is None else f"lacks the scope {scope}"
            return f"The token {why}. Nothing was done; the token's owner decides."
        case MachineUnavailable():
            why = UNAVAILABLE.get(error.reason, "It is not available.")
            return f"The machine cannot do this now. {why} This call did nothing."
        case Problem():
            return SENTENCES.get(error.name, UNFORESEEN)
        case NotFarhand():
            return "What answers at the server's address is no Farhand server. Nothing was done."
        case NoAnswer() if error.may_have_happened:
            return f"No answer came, and it may have been done. {SAME_KEY}."
        case NoAnswer():
            return "The server does not answer. Nothing was done; try again later."
        case _:
            return UNFORESEEN


def facts(error: FarhandError) -> dict[str, Any]:
    """What else is known of an error: the key, and how far several actions came."""
    known: dict[str, Any] = {"idempotency_key": error.key}
    if isinstance(error, Problem):
        known |= {"problem": error.name}
        known |= {name: error.members.get(name) for name in ("code", "completed")}
        ends = error.members.get("actions") or ()
        known["actions"] = [_without_picture(end) for end in ends] or None
    return {name: value for name, value in known.items() if value is not None}


def _without_picture(end: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in end.items() if name != "picture"}
