"""Every way in which a request can fail, once: for the server, its documentation and its callers.

A problem is answered as ``application/problem+json`` (RFC 9457).  Its ``type`` is a relative
reference that the server resolves to a page about it.  Validation errors have a body of their own,
:class:`ValidationErrorBody`, as the specification demands.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from schemas.values.unavailable_reasons import UNAVAILABLE_REASONS
from schemas.values.validation_errors import ValidationErrorEntry, sentence

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True, slots=True)
class ProblemType:
    """One kind of problem: its name in addresses, its status, and what a caller should know.

    ``reasons`` has a sentence for each value that the member ``reason`` can have, where there is
    such a member.
    """

    name: str
    status: int
    title: str
    advice: str
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def reference(self) -> str:
        """The relative reference that identifies this problem and leads to its page."""
        return f"/problems/{self.name}"


def _type(
    name: str, status: int, title: str, advice: str, reasons: Mapping[str, str] | None = None
) -> ProblemType:
    problem_type = ProblemType(name, status, title, advice, reasons or {})
    PROBLEM_TYPES[name] = problem_type
    return problem_type


PROBLEM_TYPES: dict[str, ProblemType] = {}
"""Every problem type by its name."""

UNAUTHENTICATED = _type(
    "unauthenticated",
    401,
    "No valid token",
    "Send the header Authorization: Bearer TOKEN with a token that exists, has not expired and "
    "has not been revoked.",
)
FORBIDDEN = _type(
    "forbidden",
    403,
    "The token does not allow this",
    "Use a token that has the scope named in the detail, or a role that has it, and that is bound "
    "to no pools where the detail says so; farhand token create makes one.",
)
AWAITING_APPROVAL = _type(
    "awaiting-approval",
    403,
    "Somebody has to let this machine in",
    "Its invitation wants each host approved: farhand invitation approve lets it in.  The machine "
    "client asks again by itself.",
)
CROSS_SITE_REQUEST = _type(
    "cross-site-request",
    403,
    "The request does not come from the console",
    "Open the console at this server's own address.  A program sends a token in the Authorization "
    "header in the place of the console's cookie.",
)
NOT_FOUND = _type(
    "not-found",
    404,
    "Not found",
    "Nothing with this address exists for your token's organization.  Check the id.",
)
METHOD_NOT_ALLOWED = _type(
    "method-not-allowed",
    405,
    "Method not allowed",
    "Use one of the methods that the Allow header lists.",
)
WEBSOCKET_REQUIRED = _type(
    "websocket-required",
    426,
    "A websocket is required",
    "This address speaks websocket with the machine client's subprotocol only.",
)
CONFLICT = _type(
    "already-exists",
    409,
    "Already exists",
    "Choose another id, or use what is there.",
)
WRONG_STATE = _type(
    "wrong-state",
    409,
    "Its state does not allow this",
    "Nothing was changed.  Bring it into the state that the detail names first, then try again.",
)
IN_USE = _type(
    "in-use",
    409,
    "Other things refer to it",
    "Nothing was deleted.  Delete what refers to it first.",
)
PRECONDITION_FAILED = _type(
    "precondition-failed",
    412,
    "It has changed in the meantime",
    "Nothing was changed.  Read it again, look at what is there now, and send the request with the "
    "ETag of that in If-Match.",
)
TOO_LARGE = _type(
    "body-too-large",
    413,
    "The body is too large",
    "Send a body of at most the number of bytes named in max_bytes, or with at most as many JSON "
    "values as max_values says: every element of an array and every member of an object is one.  A "
    "trajectory with more steps is created without them, and then extended.",
)
HEADERS_TOO_LARGE = _type(
    "headers-too-large",
    431,
    "The headers are too large",
    "Send a request line and headers of at most as many bytes as the detail names, all together.",
)
MALFORMED_REQUEST = _type(
    "malformed-request",
    400,
    "This is not HTTP as it should be",
    "The detail says what was wrong with the request line, the headers, the query or the framing "
    "of the body.  A library for HTTP sends all of them right.",
)
UNSUPPORTED_MEDIA_TYPE = _type(
    "unsupported-media-type",
    415,
    "The body has another media type",
    "Send the body with the Content-Type that the detail names, which is application/json nearly "
    "everywhere.",
)
KEY_IN_PROGRESS = _type(
    "idempotency-key-in-progress",
    409,
    "The first request with this key is still under way",
    "Send the same request with the same key again after Retry-After seconds.",
)
CONTROL_HELD = _type(
    "control-held",
    409,
    "Somebody has control of the machine",
    "Nothing was changed.  Wait until by gives it back, which is an event, or take it over with "
    '{"take_over": true}: then what they are doing ends.',
)
CONTROL_ENDED = _type(
    "control-ended",
    409,
    "The control lease is over",
    "Nothing happened.  It was given back, taken over, not renewed in time, or was never a lease "
    "of this machine and of whoever sends this.  Take control anew, or send the input without the "
    "header Farhand-Control.",
)
RECORDING_ENDED = _type(
    "recording-ended",
    409,
    "The recording has ended",
    "Nothing happened.  The recording that the header Farhand-Recording names was stopped, has "
    "ended, or was never one of this machine and of whoever sends this.  Begin another one, or "
    "send the input without the header.",
)
CONTROL_FREE = _type(
    "control-free",
    409,
    "Nobody has control of the machine",
    "Nobody was asked.  Take control.",
)
MACHINE_BUSY = _type(
    "machine-busy",
    429,
    "Too many unanswered inputs for this machine",
    "Nothing was sent.  Try again after Retry-After seconds.",
)
TOO_MANY_STREAMS = _type(
    "too-many-streams",
    429,
    "Too many streams or long answers at once",
    "The token, or all together, have as many open as may be: streams of events and live screens, "
    "or lists, trajectories, exports and pictures that are not read to their end.  Close one or "
    "read it, or try again after Retry-After seconds.",
)
MACHINE_UNAVAILABLE = _type(
    "machine-unavailable",
    503,
    "The machine cannot take input now",
    "Nothing was sent.  The reason and since say why and since when; try again after Retry-After "
    "seconds.",
    UNAVAILABLE_REASONS,
)
ACTIONS_STOPPED = _type(
    "actions-stopped",
    409,
    "The screen did not show what was waited for or meant",
    "The actions before are done, and those after it never will be: completed says how many, and "
    "actions has each one's end.  Look at the screen, and send what is still wanted under a new "
    "key.",
)
ELEMENT_MISSING = _type(
    "element-missing",
    409,
    "The element is not there, or cannot be used now",
    "Nothing happened.  No element is like this, or it cannot be seen, is disabled or covered, or "
    "is another by now than the one that its ref was given to: the detail says which.  Ask for the "
    "elements that there are, and send what is still wanted under a new key.",
)
ELEMENT_AMBIGUOUS = _type(
    "element-ambiguous",
    409,
    "Several elements are like this",
    "Nothing happened.  Say more of the one that is meant, such as its window, and send it under a "
    "new key.",
)
NO_ELEMENTS = _type(
    "no-elements",
    501,
    "The machine tells of no elements",
    "Nothing was done, and asking again changes nothing until the machine has some: the detail "
    "says why there are none, and what would help.  Use places, texts or pictures.",
)
NOT_CARRIED_OUT = _type(
    "not-carried-out",
    503,
    "The input never reached the machine",
    "It was not carried out and never will be.  Send it again under a new key if it is still "
    "wanted.",
)
SERVER_STOPPING = _type(
    "server-stopping",
    503,
    "The server is stopping",
    "Nothing was done.  Try again after Retry-After seconds.",
)
SERVER_BUSY = _type(
    "server-busy",
    503,
    "The server holds as many request bodies as it may",
    "Nothing was done.  Try again after Retry-After seconds.",
)
STORAGE_UNAVAILABLE = _type(
    "storage-unavailable",
    503,
    "The database does not answer",
    "Try again after Retry-After seconds, with the same Idempotency-Key if there was one.",
)
INPUT_FAILED = _type(
    "input-failed",
    502,
    "The machine tried and failed",
    "Part of the input may have happened: at least injected_at_least events did.  What was held "
    "was released.  Look at the screen before you go on.",
)
CLIPBOARD_UNREADABLE = _type(
    "clipboard-unreadable",
    502,
    "The machine's clipboard cannot be read",
    "What was copied last is no text, is too long, or its program does not say it; the code says "
    "which.  Nothing was changed.",
)
OUTCOME_UNKNOWN = _type(
    "outcome-unknown",
    502,
    "Nobody can know whether the input happened",
    "It was begun and not finished, or the machine's journal is lost.  It will not be tried again; "
    "look at the screen before you go on.",
)
INPUT_EXPIRED = _type(
    "input-expired",
    504,
    "The input came too late",
    "Its time passed before the machine could begin.  It was not carried out and never will be.",
)
OUTCOME_PENDING = _type(
    "outcome-pending",
    504,
    "The outcome is not known yet",
    "The input may have been sent, and was not acknowledged in time.  Ask again with the same "
    "Idempotency-Key; without a key it cannot be repeated safely: look at the screen first.",
)
NOT_INSTALLED = _type(
    "not-installed",
    501,
    "A part of the server is not installed",
    "Nothing was done.  The detail names what whoever runs the server has to install.",
)
INTERNAL_ERROR = _type(
    "internal-error",
    500,
    "The server made a mistake",
    "This is a defect of the server.  Its log has more under the request id in instance.",
)


class Problem(BaseModel):
    """The body of an error answer that is not a validation error (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="Relative reference to the problem's page.")
    title: str
    status: int
    detail: str = Field(description="A sentence for a person.")
    instance: str = Field(description="The id of the request, as in X-Request-Id.")


@dataclass(eq=False)
class ProblemError(Exception):
    """A request ends with this problem; ``members`` are its named extra members."""

    problem_type: ProblemType
    detail: str
    members: Mapping[str, JsonValue] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.detail

    def body(self, instance: str) -> dict[str, JsonValue]:
        """The members of the answer's body, for the request with the id ``instance``."""
        return {
            "type": self.problem_type.reference,
            "title": self.problem_type.title,
            "status": self.problem_type.status,
            "detail": self.detail,
            "instance": instance,
            **self.members,
        }


class ValidationErrorBody(BaseModel):
    """The body of a ``422``."""

    detail: list[ValidationErrorEntry]


@dataclass(eq=False)
class InvalidRequestError(Exception):
    """A request that is not what it should be; every entry says where and what."""

    entries: list[ValidationErrorEntry]

    @classmethod
    def single(
        cls,
        loc: Iterable[str],
        message: str,
        kind: str = "value_error",
        value: JsonValue = None,
        ctx: dict[str, Any] | None = None,
    ) -> "InvalidRequestError":
        """One entry about one place."""
        return cls(
            [
                ValidationErrorEntry(
                    loc=list(loc), msg=message, type=kind, input=value, ctx=ctx or {}
                )
            ]
        )

    def __str__(self) -> str:
        return "; ".join(sentence(entry) for entry in self.entries)
