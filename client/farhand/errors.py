"""Everything that can go wrong with a call, as exceptions with one root.

What matters to whoever drives a machine is whether something may have happened on it: every one of
these says so, in ``may_have_happened``.  A problem that the server names, such as
``machine-unavailable``, is a class of that name here: :class:`MachineUnavailable`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self


class FarhandError(Exception):
    """The root of all errors of this library.  Its text is a sentence for a person."""

    may_have_happened: bool = False
    """Whether what was asked for may have been done, at least in part."""

    key: str | None = None
    """The Idempotency-Key that it was asked for with: with the same key one may ask again."""

    status: int | None = None
    """The answer's HTTP status, where there was one."""


class NoAnswer(FarhandError):
    """The server gave no final answer in time, or none at all."""

    why: str = ""
    """What went wrong with the last try, in the system's words."""


class NotFarhand(FarhandError):
    """What answered is no Farhand server: a proxy's page, a redirect, something else's JSON."""


class SessionError(FarhandError):
    """A session cannot go on, and nothing is sent in it any more."""


class SessionChanged(SessionError):
    """Another input stands at this place of the session than when it ran before."""


class SessionFinished(SessionError):
    """The session came to its end before: all of it is done."""


class SessionTooOld(SessionError):
    """The key of the input to go on with may be forgotten: a retry could do it twice."""


class SessionInUse(SessionError):
    """Another process has the session open."""


@dataclass(frozen=True)
class WrongPart:
    """One thing that was wrong with a request."""

    loc: tuple[str, ...]
    """Where: ``body``, ``query``, ``path`` or ``header``, then the field."""
    message: str
    type: str

    def __str__(self) -> str:
        place = ".".join(self.loc)
        return f"{place}: {self.message}" if place else self.message


class Refused(FarhandError):
    """The server's own answer to a request that was not done, or not all of it."""

    status: int
    final: bool = False
    """Whether this is how the input ended: asking again with its key would change nothing."""

    def __init__(self, status: int, text: str, *, key: str | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.key = key

    @property
    def body(self) -> Mapping[str, Any]:
        """The answer's JSON."""
        raise NotImplementedError


class InvalidRequest(Refused):
    """422: something in the request is wrong, and nothing of it was done."""

    final = True

    def __init__(self, wrong: Sequence[WrongPart], *, key: str | None = None) -> None:
        super().__init__(422, "; ".join(map(str, wrong)), key=key)
        self.wrong = tuple(wrong)

    @property
    def body(self) -> Mapping[str, Any]:
        """The answer's JSON."""
        entries = [{"loc": each.loc, "msg": each.message, "type": each.type} for each in self.wrong]
        return {"detail": entries}

    @property
    def is_about_the_key(self) -> bool:
        """Whether another request was sent with its Idempotency-Key before."""
        return any(each.type == "idempotency_key_reused" for each in self.wrong)


class Problem(Refused):
    """An error that the server names (RFC 9457); ``docs/reference/answers.md`` has them all."""

    name: ClassVar[str] = ""
    """The problem's name, as in the address of its page: ``/problems/machine-unavailable``."""

    def __init__(
        self, status: int, body: Mapping[str, Any], headers: Mapping[str, str], key: str | None
    ) -> None:
        super().__init__(status, f"{body['title']}: {body['detail']}", key=key)
        self.type = str(body["type"])
        self.title = str(body["title"])
        self.detail = str(body["detail"])
        self.request_id = str(body.get("instance", ""))
        """What the server's log has of this request stands under this id."""
        self.members = dict(body)
        """All that the answer says, under the names that it has there."""
        self.headers = headers
        self.final = body.get("final") is True

    @property
    def body(self) -> Mapping[str, Any]:
        """The answer's JSON."""
        return self.members

    @property
    def command_id(self) -> str | None:
        """The command's id, where there is one: ``farhand.commands.get`` says what became of it."""
        return self.members.get("command_id")


class Unauthenticated(Problem):
    """The token does not exist, has expired or was revoked."""

    name = "unauthenticated"


class Forbidden(Problem):
    """The token lacks the scope that the detail names, or is bound to pools that this is beyond."""

    name = "forbidden"


class AwaitingApproval(Problem):
    """A machine that joins waits until somebody lets it in."""

    name = "awaiting-approval"


class CrossSiteRequest(Problem):
    """A browser's request from another site."""

    name = "cross-site-request"


class NotFound(Problem):
    """There is no such thing in the token's organization."""

    name = "not-found"


class MethodNotAllowed(Problem):
    """The address does not take this method."""

    name = "method-not-allowed"


class WebsocketRequired(Problem):
    """The address is for machine clients."""

    name = "websocket-required"


class AlreadyExists(Problem):
    """Something has this id already."""

    name = "already-exists"


class WrongState(Problem):
    """It must first come into the state that the detail names."""

    name = "wrong-state"


class InUse(Problem):
    """Other things refer to it."""

    name = "in-use"


class PreconditionFailed(Problem):
    """It has changed since it was read."""

    name = "precondition-failed"


class BodyTooLarge(Problem):
    """The request has more bytes or values than the server takes."""

    name = "body-too-large"


class HeadersTooLarge(Problem):
    """The request's headers are longer than the server takes."""

    name = "headers-too-large"


class MalformedRequest(Problem):
    """The request was not HTTP as it should be."""

    name = "malformed-request"


class UnsupportedMediaType(Problem):
    """The body is of another type than the server takes there."""

    name = "unsupported-media-type"


class IdempotencyKeyInProgress(Problem):
    """The first request with the key is still under way."""

    name = "idempotency-key-in-progress"
    may_have_happened = True


class ControlHeld(Problem):
    """Somebody has control of the machine; take it over, or wait."""

    name = "control-held"


class ControlEnded(Problem):
    """The control lease is over; nothing of the input happened."""

    name = "control-ended"


class ControlFree(Problem):
    """Nobody has control of the machine."""

    name = "control-free"


class RecordingEnded(Problem):
    """The recording that an input names has ended; nothing of the input happened."""

    name = "recording-ended"


class MachineBusy(Problem):
    """Too many inputs wait for the machine; nothing was sent."""

    name = "machine-busy"


class TooManyStreams(Problem):
    """The token has as many streams, waits or long answers open as it may."""

    name = "too-many-streams"


class MachineUnavailable(Problem):
    """The machine cannot do this now; nothing was sent."""

    name = "machine-unavailable"

    @property
    def reason(self) -> str:
        """Why: ``offline``, ``paused``, ``controlled``, ``no_screen`` and the like."""
        return str(self.members.get("reason", ""))


class _OfActions(Problem):
    """A problem that says how far several actions came."""

    may_have_happened = True

    @property
    def completed(self) -> int | None:
        """How many of the actions are done; None where nobody knows, and for a single input."""
        return self.members.get("completed")

    @property
    def actions(self) -> list[dict[str, Any]] | None:
        """Each action's end, as the server said it: ``operation``, ``status`` and the like."""
        return self.members.get("actions")

    @property
    def code(self) -> str | None:
        """The machine's own word for what was wrong."""
        return self.members.get("code")


class ActionsStopped(_OfActions):
    """The screen did not show what was waited for or meant; what came before is done."""

    name = "actions-stopped"


class _OfElement(Problem):
    """Nothing happened, as it is not one element that is meant."""

    @classmethod
    def told(cls, title: str, detail: str) -> Self:
        """As a server says it."""
        body = {"type": f"/problems/{cls.name}", "title": title, "detail": detail, "final": True}
        return cls(409, body, {}, None)


class ElementMissing(_OfElement):
    """No such element is there that can be used now; nothing happened."""

    name = "element-missing"


class ElementAmbiguous(_OfElement):
    """Several elements are like this; nothing happened."""

    name = "element-ambiguous"


class InputFailed(_OfActions):
    """The machine tried and failed; a part may have happened, and what was held is released."""

    name = "input-failed"


class OutcomeUnknown(_OfActions):
    """Nobody can know whether the input happened: look at the screen.  It is never tried again."""

    name = "outcome-unknown"


class NotCarriedOut(Problem):
    """The input never reached the machine, and never will."""

    name = "not-carried-out"


class InputExpired(Problem):
    """The machine could not begin in time; nothing happened, and never will."""

    name = "input-expired"


class OutcomePending(Problem):
    """The input may have been sent, and what became of it is not known yet."""

    name = "outcome-pending"
    may_have_happened = True


class ServerStopping(Problem):
    """The server is stopping."""

    name = "server-stopping"


class ServerBusy(Problem):
    """The server has as many requests in memory as it may; nothing was done."""

    name = "server-busy"


class StorageUnavailable(Problem):
    """The server's database does not answer."""

    name = "storage-unavailable"
    may_have_happened = True


class ClipboardUnreadable(Problem):
    """What is in the clipboard is no text, is too long, or is not told."""

    name = "clipboard-unreadable"


class NoElements(Problem):
    """The machine tells of no elements; the detail says why, and what would help."""

    name = "no-elements"


class NotInstalled(Problem):
    """A part of the server is not installed; the detail says which."""

    name = "not-installed"


class InternalError(Problem):
    """A defect of the server; its log has more under the ``request_id``."""

    name = "internal-error"
    may_have_happened = True


def _named(kind: type[Problem]) -> dict[str, type[Problem]]:
    found = {kind.name: kind} if kind.name else {}
    for each in kind.__subclasses__():
        found |= _named(each)
    return found


PROBLEMS: dict[str, type[Problem]] = _named(Problem)
"""The class of each problem, by its name."""


def refused(
    status: int, body: Any, headers: Mapping[str, str] | None = None, key: str | None = None
) -> Refused:
    """The error that an answer's decoded body tells, or that is told within another answer.

    Raises ValueError, KeyError or TypeError where no Farhand server says this.
    """
    if status == 422:
        wrong = [
            WrongPart(tuple(map(str, each["loc"])), each["msg"], each["type"])
            for each in body["detail"]
        ]
        return InvalidRequest(wrong, key=key)
    name = str(body["type"]).removeprefix("/problems/")
    return PROBLEMS.get(name, Problem)(status, body, headers or {}, key)
