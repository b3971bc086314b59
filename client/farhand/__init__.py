"""Work remote desktops from Python, through a Farhand server.

>>> with Farhand("http://127.0.0.1:8600", token) as farhand:
...     reception = farhand.machine("reception")
...     reception.click(640, 360)
...     reception.type("4711")

:class:`Farhand` is for ordinary programs, :class:`AsyncFarhand` the same for asyncio.
"""

from farhand._answers import Reply
from farhand._async.client import AsyncFarhand
from farhand._async.machine import AsyncMachine
from farhand._async.session import AsyncSession
from farhand._sync.client import Farhand
from farhand._sync.machine import Machine
from farhand._sync.session import Session
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
    NotCarriedOut,
    NotFarhand,
    NotFound,
    OutcomePending,
    OutcomeUnknown,
    PreconditionFailed,
    Problem,
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
    "NotCarriedOut",
    "NotFarhand",
    "NotFound",
    "OutcomePending",
    "OutcomeUnknown",
    "PreconditionFailed",
    "Problem",
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
