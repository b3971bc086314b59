"""Why a machine can be unavailable: every value of ``reason``, and what each means."""

from collections.abc import Mapping
from typing import Literal

UnavailableReason = Literal[
    "offline",
    "unreachable",
    "paused",
    "controlled",
    "private",
    "run",
    "no_input",
    "no_screen",
    "no_clipboard",
    "no_vision",
    "no_elements",
    "settling",
    "not_interrupted",
]
"""Why a machine cannot do what was asked of it."""

UNAVAILABLE_REASONS: Mapping[str, str] = {
    "offline": "The machine is not connected.",
    "unreachable": "The machine is connected to another node, which this node cannot reach or "
    "agree with.",
    "paused": "The machine was paused; the detail says by whom, why and until when.",
    "controlled": "Somebody has control of the machine; the member by names them.",
    "private": "Somebody has private control of the machine, and nobody else sees anything of it; "
    "the member by names them.",
    "run": "A run has reserved the machine; the member by names it.",
    "no_input": "The machine is connected and has no way to inject input: its desktop is gone, "
    "locked or stuck.",
    "no_screen": "The machine is connected and its screen cannot be seen.",
    "no_clipboard": "The machine is connected and its clipboard cannot be used this way.",
    "no_vision": "The machine is connected, and its node cannot look for texts and pictures on its "
    "screen now.",
    "no_elements": "The machine is connected and did not tell in time what elements it has.",
    "settling": "The machine has just connected and has not reported yet what became of earlier "
    "inputs.",
    "not_interrupted": "The machine did not confirm in time that what ran on it has ended, so "
    "control was not given.",
}
