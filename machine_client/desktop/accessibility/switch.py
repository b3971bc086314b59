"""The session's own switch: whether its programs are asked to tell what they show.

Programs of GTK tell whatever it says; those of Qt tell where it is on when they start.
"""

import asyncio
import os
from typing import Any, Final

from dbus_fast import Variant

from machine_client.desktop.accessibility.bus import CONNECT_SECONDS, asked_of_session
from machine_client.desktop.base import DesktopError
from schemas.inputs.outcomes import ELEMENTS_UNAVAILABLE

_PROPERTIES: Final = "org.freedesktop.DBus.Properties"
_STATUS: Final = "org.a11y.Status"
_IS_ENABLED: Final = "IsEnabled"

_SWITCHED_OFF: Final = (("NO_AT_BRIDGE", "1", "GTK 3"), ("GTK_A11Y", "none", "GTK 4"))
"""A variable, the value with which a toolkit tells nothing, and which toolkit that is."""


def is_switched_on() -> bool:
    """What ``org.a11y.Status`` says.  Raises DesktopError where nobody says it."""
    return bool(_asked("Get", "ss", _STATUS, _IS_ENABLED))


def switch(*, on: bool) -> None:
    """Change it, for programs that start from now on.  Raises DesktopError."""
    _asked("Set", "ssv", _STATUS, _IS_ENABLED, Variant("b", on))


def why_few() -> str | None:
    """Why some programs tell nothing though others may, with the remedy; None where none does so.

    Raises DesktopError.
    """
    found = [
        f"{variable}={value} is set, so programs of {toolkit} tell nothing: take it out of the "
        "session's environment"
        for variable, value, toolkit in _SWITCHED_OFF
        if os.environ.get(variable) == value
    ]
    if not is_switched_on():
        found.append(
            "accessibility is off in this session (org.a11y.Status IsEnabled), so programs of Qt "
            "tell nothing: farhand-machine install --accessibility switches it on"
        )
    return "; ".join(found) or None


def _asked(member: str, signature: str, *body: Any) -> Any:
    async def asked() -> Any:
        async with asyncio.timeout(CONNECT_SECONDS):
            return await asked_of_session(_PROPERTIES, member, signature, *body)

    try:
        return asyncio.run(asked())
    except TimeoutError:
        why = "the session's D-Bus did not answer in time"
        raise DesktopError(ELEMENTS_UNAVAILABLE, why) from None
