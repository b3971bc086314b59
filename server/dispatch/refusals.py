"""Every way in which the door says no, or that it does not know yet: the problems, once."""

from uuid import UUID

from pydantic import JsonValue

from schemas.http import problems
from schemas.http.problems import InvalidRequestError, ProblemError
from schemas.http.unavailable_reasons import UnavailableReason
from server.clock import iso_time, server_time
from server.machines.link.errors import (
    ControlEndedError,
    LinkBusyError,
    LinkUnsettledError,
    MachineControlledError,
    MachinePausedError,
    NoClipboardError,
    NoInputError,
    SubmissionRefusedError,
)

RETRY_UNAVAILABLE = "5"
RETRY_BUSY = "1"
RETRY_PENDING = "1"
JUST_MILLISECONDS = 5000
"""A machine that is unavailable for no longer is mostly back at once: it may be moving."""


def refused(error: SubmissionRefusedError, since: int) -> ProblemError:
    """The problem of a link that took nothing.

    ``since`` (ms since 1970) is for a refusal that does not know since when it holds.
    """
    match error:
        case LinkBusyError():
            return busy("inputs as it may; nothing was sent")
        case MachineControlledError():
            return controlled(error.by, error.since)
        case ControlEndedError():
            return control_ended()
        case MachinePausedError():
            return unavailable("paused", "an operator paused the machine", error.since)
        case NoInputError():
            return unavailable(
                "no_input", f"the machine has no way to inject: {error.reason}", error.since
            )
        case NoClipboardError():
            return no_clipboard(f"nothing can be copied on it: {error}", since)
        case LinkUnsettledError():
            return settling(since)
        case _:
            return just_disconnected(since)


def controlled(by: str, since: int) -> ProblemError:
    """A machine that somebody else has control of, ``since`` then (ms since 1970)."""
    return unavailable(
        "controlled", f"{by} has control of the machine; nothing was sent", since, by=by
    )


def control_held(by: str, since: int) -> ProblemError:
    """Somebody has control of the machine, whoever asks."""
    return ProblemError(
        problems.CONTROL_HELD,
        f"{by} has control of the machine",
        members={"by": by, "since": iso_time(since)},
    )


def control_ended() -> ProblemError:
    """A control lease that is over, or was never this machine's or this caller's."""
    return ProblemError(
        problems.CONTROL_ENDED, "this control lease is over, or is another machine's or caller's"
    )


def control_free() -> ProblemError:
    """Nobody has control, who could be asked for it."""
    return ProblemError(problems.CONTROL_FREE, "nobody has control of the machine")


def not_interrupted() -> ProblemError:
    """A machine that did not say in time that nothing runs and nothing is held any more."""
    return unavailable(
        "not_interrupted",
        "the machine did not confirm in time that what ran on it has ended; nobody has control",
        None,
    )


def busy(what: str) -> ProblemError:
    """A machine that has as many unanswered inputs, or questions, as it may."""
    return ProblemError(
        problems.MACHINE_BUSY,
        f"the machine has as many unanswered {what}",
        headers={"Retry-After": RETRY_BUSY},
    )


def just_disconnected(since: int | None = None) -> ProblemError:
    """A machine whose link ended in this moment, or at ``since`` (milliseconds since 1970)."""
    return unavailable("offline", "the machine has just disconnected", since)


def settling(since: int) -> ProblemError:
    """A machine that has not said in time what became of what earlier links had sent it."""
    return unavailable(
        "settling",
        "the machine has not said yet what became of earlier inputs; nothing was sent",
        since,
    )


def no_screen(why: str, since: int | None) -> ProblemError:
    """A machine that is connected and shows no screen, now or since a moment (ms since 1970)."""
    return unavailable("no_screen", f"the machine shows no screen: {why}", since)


def no_clipboard(why: str, since: int | None) -> ProblemError:
    """A machine that is connected, whose clipboard cannot be used so."""
    return unavailable("no_clipboard", f"the machine's clipboard: {why}", since)


def unavailable(
    reason: UnavailableReason, detail: str, since: int | None, **members: JsonValue
) -> ProblemError:
    """A machine that cannot do it, since now or ``since`` (ms since 1970); nothing was sent."""
    now = server_time()
    since = now if since is None else since
    is_new = now - since < JUST_MILLISECONDS
    return ProblemError(
        problems.MACHINE_UNAVAILABLE,
        detail,
        members={"reason": reason, "since": iso_time(since), **members},
        headers={"Retry-After": RETRY_BUSY if is_new else RETRY_UNAVAILABLE},
    )


def unreachable(node_name: str, since: int | None) -> ProblemError:
    """A machine that is connected to a node which this one cannot reach; nothing was sent."""
    return unavailable(
        "unreachable",
        f"the machine is connected to the node {node_name}, which this node cannot reach",
        since,
    )


def not_understood(why: str) -> ProblemError:
    """A machine whose node refuses what this one says, such as of another version."""
    return unavailable(
        "unreachable",
        f"the node that the machine is connected to refuses what this one forwards: {why}",
        None,
    )


def unknown_machine(machine_id: str) -> ProblemError:
    """No such machine, or one of another organization: the same answer for both."""
    return ProblemError(problems.NOT_FOUND, f"there is no machine {machine_id!r}")


def too_many_viewers(most: int) -> ProblemError:
    """As many look at live screens of this server as it has room for."""
    return ProblemError(
        problems.TOO_MANY_STREAMS,
        f"{most} viewers look at live screens of this server, which are as many as it has room for",
        headers={"Retry-After": RETRY_BUSY},
    )


def pending(command_id: UUID) -> ProblemError:
    """A command that may have been sent, and of which nothing is known yet."""
    return ProblemError(
        problems.OUTCOME_PENDING,
        "the input may have been sent, and its outcome is not known yet",
        members={"command_id": str(command_id)},
        headers={"Retry-After": RETRY_PENDING},
    )


def in_progress() -> ProblemError:
    """The first request with this key is not over."""
    return ProblemError(
        problems.KEY_IN_PROGRESS,
        "the first request with this Idempotency-Key is still under way",
        headers={"Idempotency-Status": "in_progress", "Retry-After": "1"},
    )


def key_reused() -> InvalidRequestError:
    """The key belongs to another request."""
    return InvalidRequestError.single(
        ("header", "Idempotency-Key"),
        "this key was used for another request; use a new key for a new request",
        "idempotency_key_reused",
    )
