"""What several actions did, in numbers: how many of which kind, and never what they typed."""

from collections import Counter
from typing import Final

from schemas.inputs.bodies import INPUT_BODIES, Operation
from schemas.inputs.outcomes import Results
from server.dispatch.stretches import counted

_NAMES: Final[dict[str, tuple[str, str]]] = {
    Operation.MOUSE_CLICK: ("click", "clicks"),
    Operation.MOUSE_DRAG: ("drag", "drags"),
    Operation.MOUSE_MOVE: ("move", "moves"),
    Operation.MOUSE_SCROLL: ("scroll", "scrolls"),
    Operation.KEYBOARD_KEY: ("key combination", "key combinations"),
    Operation.KEYBOARD_TYPE: ("text", "texts"),
    Operation.CLIPBOARD_WRITE: ("copied text", "copied texts"),
    Operation.ELEMENT_INVOKE: ("element invoked", "elements invoked"),
    Operation.ELEMENT_SET_VALUE: ("value", "values"),
    Operation.ELEMENT_FOCUS: ("focus", "focuses"),
    "wait": ("pause", "pauses"),
    "wait_for": ("wait", "waits"),
    "screenshot": ("picture", "pictures"),
}


def in_words(results: Results) -> str:
    """What they did, such as "3 of 5 actions: 2 clicks, 1 text"."""
    done = Counter(each.operation for each in results if each.status == "completed")
    kinds = [counted(done[operation], *names) for operation, names in _NAMES.items()]
    said = ", ".join(filter(None, kinds)) or "none was completed"
    of_all = counted(len(results), "action", "actions")
    begun = of_all if done.total() == len(results) else f"{done.total()} of {of_all}"
    return f"{begun}: {said}"


def inputs_among(results: Results) -> int:
    """As how many inputs they count: those that were begun, and one at least."""
    inputs = (each for each in results if each.operation in INPUT_BODIES)
    return max(1, sum(each.status != "not_begun" for each in inputs))
