"""What is asked of an element itself: to do what it is there for, to take a value, or the focus."""

import asyncio
from typing import Any, Final

from dbus_fast import Variant

from machine_client.desktop.accessibility.bus import (
    CallRefusedError,
    Calls,
    SilentProgramError,
    unpacked,
)
from machine_client.desktop.accessibility.details import COMPONENT, VALUE
from machine_client.desktop.accessibility.nodes import Node
from machine_client.desktop.accessibility.programs import ACCESSIBLE, PROPERTIES
from machine_client.desktop.base import DesktopError, OutcomeUnknown, Refusal
from schemas.inputs.outcomes import Refused
from schemas.programs.failpoints import Failpoint, reached

ACTION: Final = "org.a11y.atspi.Action"
EDITABLE: Final = "org.a11y.atspi.EditableText"

PATIENCE_SECONDS: Final = 0.7
"""For a program to say that it has done something, before it is asked whether it lives."""


async def invoke(calls: Calls, node: Node) -> None:
    """Carry out its first action.  Raises Refusal where it has none."""
    address = node.address
    try:
        number = unpacked(
            await calls.call(
                address.name, address.path, PROPERTIES, "Get", "ss", ACTION, "NActions"
            )
        )
    except CallRefusedError:
        number = 0
    except SilentProgramError as error:
        raise DesktopError(
            "element_silent", "The program does not answer: nothing was asked"
        ) from error
    if not isinstance(number, int) or number < 1:
        raise _cannot(node, "has nothing that it could do")
    await _demand(calls, node, ACTION, "DoAction", "i", 0)


async def focus(calls: Calls, node: Node) -> None:
    """Have it take the keyboard's focus."""
    if not node.has("focusable"):
        raise _cannot(node, "takes no focus")
    await _demand(calls, node, COMPONENT, "GrabFocus")


async def set_value(calls: Calls, node: Node, value: str | float) -> None:
    """Put a text into a field that may be edited, or a number into what has one."""
    if isinstance(value, str):
        if not node.has("editable") or node.has("read-only"):
            raise _cannot(node, "takes no text")
        await _demand(calls, node, EDITABLE, "SetTextContents", "s", value)
        return
    if not node.has_number:
        raise _cannot(node, "takes no number")
    await _demand(
        calls, node, PROPERTIES, "Set", "ssv", VALUE, "CurrentValue", Variant("d", float(value))
    )
    taken = await _number(calls, node)
    if taken is None or abs(taken - value) > 1e-6 * max(1.0, abs(value)):
        raise DesktopError(
            "value_not_taken", f"The {node.role} did not take the number: it has {taken}"
        )


async def _number(calls: Calls, node: Node) -> float | None:
    address = node.address
    try:
        number: Any = unpacked(
            await calls.call(
                address.name, address.path, PROPERTIES, "Get", "ss", VALUE, "CurrentValue"
            )
        )
    except (CallRefusedError, SilentProgramError):
        return None
    return float(number) if isinstance(number, int | float) else None


async def _demand(
    calls: Calls, node: Node, interface: str, member: str, signature: str = "", *body: Any
) -> None:
    """Ask for it.  Raises OutcomeUnknown where the program says nothing more.

    One that opens a dialog answers once that is closed; but what it is asked meanwhile it answers,
    and messages are read in their order: then it has begun what was asked for.
    """
    address = node.address
    asked = calls.send_slowly(address.name, address.path, interface, member, signature, *body)
    done, _ = await asyncio.wait((asked,), timeout=PATIENCE_SECONDS)
    reached(Failpoint.AFTER_PRESS)
    if not done:
        try:
            await calls.call(address.name, address.path, ACCESSIBLE, "GetRole")
        except CallRefusedError:
            return  # What was asked for has done away with the element.
        except SilentProgramError:
            raise OutcomeUnknown("the program was asked, and does not answer") from None
        return
    try:
        answer = asked.result()
    except CallRefusedError as error:
        raise DesktopError(
            "element_refused", f"The {node.role} refused it: {error}"[:1000]
        ) from error
    if answer is False:
        raise DesktopError("element_refused", f"The {node.role} did not do it")


def _cannot(node: Node, why: str) -> Refusal:
    return Refusal(
        Refused(code="element_cannot", message=f'The {node.role} "{node.name[:60]}" {why}')
    )
