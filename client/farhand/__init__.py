"""Work remote desktops from Python, through a Farhand server.

>>> with Farhand("http://127.0.0.1:8600", token) as farhand:
...     reception = farhand.machine("reception")
...     reception.click(640, 360)
...     reception.type("4711")

:class:`Farhand` is for ordinary programs, :class:`AsyncFarhand` the same for asyncio.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from farhand._answers import Reply
from farhand.errors import (
    ActionsStopped,
    AlreadyExists,
    AwaitingApproval,
    BodyTooLarge,
    ClipboardUnreadable,
    ControlEnded,
    ControlFree,
    ControlHeld,
    CrossSiteRequest,
    ElementAmbiguous,
    ElementMissing,
    FarhandError,
    Forbidden,
    HeadersTooLarge,
    IdempotencyKeyInProgress,
    InputExpired,
    InputFailed,
    InternalError,
    InUse,
    InvalidRequest,
    MachineBusy,
    MachineUnavailable,
    MalformedRequest,
    MethodNotAllowed,
    NoAnswer,
    NoElements,
    NotCarriedOut,
    NotFarhand,
    NotFound,
    NotInstalled,
    OutcomePending,
    OutcomeUnknown,
    PreconditionFailed,
    Problem,
    RecordingEnded,
    Refused,
    ServerBusy,
    ServerStopping,
    SessionChanged,
    SessionError,
    SessionFinished,
    SessionInUse,
    SessionTooOld,
    StorageUnavailable,
    TooManyStreams,
    Unauthenticated,
    UnsupportedMediaType,
    WebsocketRequired,
    WrongPart,
    WrongState,
)

if TYPE_CHECKING:
    from farhand._async.client import AsyncFarhand
    from farhand._async.machine import AsyncMachine
    from farhand._async.session import AsyncSession
    from farhand._sync.client import Farhand
    from farhand._sync.machine import Machine
    from farhand._sync.session import Session

__version__ = "0.1.0"

__all__ = [
    "ActionsStopped",
    "AlreadyExists",
    "AsyncFarhand",
    "AsyncMachine",
    "AsyncSession",
    "AwaitingApproval",
    "BodyTooLarge",
    "ClipboardUnreadable",
    "ControlEnded",
    "ControlFree",
    "ControlHeld",
    "CrossSiteRequest",
    "ElementAmbiguous",
    "ElementMissing",
    "Farhand",
    "FarhandError",
    "Forbidden",
    "HeadersTooLarge",
    "IdempotencyKeyInProgress",
    "InUse",
    "InputExpired",
    "InputFailed",
    "InternalError",
    "InvalidRequest",
    "Machine",
    "MachineBusy",
    "MachineUnavailable",
    "MalformedRequest",
    "MethodNotAllowed",
    "NoAnswer",
    "NoElements",
    "NotCarriedOut",
    "NotFarhand",
    "NotFound",
    "NotInstalled",
    "OutcomePending",
    "OutcomeUnknown",
    "PreconditionFailed",
    "Problem",
    "RecordingEnded",
    "Refused",
    "Reply",
    "ServerBusy",
    "ServerStopping",
    "Session",
    "SessionChanged",
    "SessionError",
    "SessionFinished",
    "SessionInUse",
    "SessionTooOld",
    "StorageUnavailable",
    "TooManyStreams",
    "Unauthenticated",
    "UnsupportedMediaType",
    "WebsocketRequired",
    "WrongPart",
    "WrongState",
]

_LOADED_WHEN_NAMED = {
    "AsyncFarhand": "farhand._async.client",
    "AsyncMachine": "farhand._async.machine",
    "AsyncSession": "farhand._async.session",
    "Farhand": "farhand._sync.client",
    "Machine": "farhand._sync.machine",
    "Session": "farhand._sync.session",
}
"""Importing httpx and pydantic takes longer than all of ours, and few programs need both halves."""

if not TYPE_CHECKING:  # A checker of types would take any name for one of ours.

    def __getattr__(name: str) -> Any:
        if name not in _LOADED_WHEN_NAMED:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_LOADED_WHEN_NAMED[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
