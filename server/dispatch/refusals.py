"""Every way in which nothing is done for whoever asks, once."""

from typing import TypeVar

from schemas.values.unavailable_reasons import UnavailableReason
from server.clock import server_time
from server.dispatch.questions.question import Refusal, RefusalKind
from server.machines.link import errors

R = TypeVar("R")

RETRY_UNAVAILABLE = 5
RETRY_SOON = 1
JUST_MILLISECONDS = 5000
"""A machine that is unavailable for no longer is mostly back at once: it may be moving."""


def refused(error: errors.SubmissionRefusedError, since: int) -> Refusal:
    """Why a link took nothing.

    ``since`` (ms since 1970) is for a refusal that does not know since when it holds.
    """
    match error:
        case errors.LinkBusyError():
            return busy("inputs as it may; nothing was sent")
        case errors.MachineControlledError():
            return controlled(error.by, error.since, is_run=error.is_run)
        case errors.ControlEndedError():
            return control_ended()
        case errors.MachinePausedError():
            return unavailable("paused", error.why, error.since)
        case errors.NoInputError():
            return unavailable(
                "no_input", f"the machine has no way to inject: {error.reason}", error.since
            )
        case errors.NoClipboardError():
            return no_clipboard(f"nothing can be copied on it: {error}", since)
        case errors.NoElementsError():
            return without_elements(str(error))
        case errors.NoScreenError():
            return no_screen(error.reason, error.since)
        case errors.LinkUnsettledError():
            return settling(since)
        case _:
            return just_disconnected(since)


def controlled(by: str, since: int, *, is_run: bool = False) -> Refusal:
    """A machine that somebody else, or a run, has control of, ``since`` then (ms since 1970)."""
    why = f"{by} has {'reserved' if is_run else 'control of'} the machine; nothing was sent"
    return unavailable("run" if is_run else "controlled", why, since, by=by)


def private(by: str, since: int) -> Refusal:
    """A machine of which somebody else alone sees anything, ``since`` then (ms since 1970)."""
    detail = (
        f"{by} has private control of the machine: nobody else sees its screen, its elements or "
        "its clipboard"
    )
    return unavailable("private", detail, since, by=by)


def control_held(by: str, since: int) -> Refusal:
    """Somebody has control of the machine, whoever asks."""
    detail = f"{by} has control of the machine"
    return Refusal(kind=RefusalKind.CONTROL_HELD, detail=detail, by=by, since=since)


def control_ended() -> Refusal:
    """A control lease that is over, or was never this machine's or this caller's."""
    return Refusal(
        kind=RefusalKind.CONTROL_ENDED,
        detail="this control lease is over, or is another machine's or caller's",
    )


def control_free() -> Refusal:
    """Nobody has control, who could be asked for it."""
    return Refusal(kind=RefusalKind.CONTROL_FREE, detail="nobody has control of the machine")


def recording_ended() -> Refusal:
    """A recording that has ended, or was never of this machine and this caller."""
    return Refusal(
        kind=RefusalKind.RECORDING_ENDED,
        detail="this recording has ended, or is another machine's or caller's",
    )


def not_interrupted() -> Refusal:
    """A machine that did not say in time that nothing runs and nothing is held any more."""
    return unavailable(
        "not_interrupted",
        "the machine did not confirm in time that what ran on it has ended; nobody has control",
        None,
    )


def busy(what: str) -> Refusal:
    """A machine that has as many unanswered inputs, or questions, as it may."""
    return Refusal(
        kind=RefusalKind.BUSY,
        detail=f"the machine has as many unanswered {what}",
        retry_seconds=RETRY_SOON,
    )


def just_disconnected(since: int | None = None) -> Refusal:
    """A machine whose link ended in this moment, or at ``since`` (milliseconds since 1970)."""
    return unavailable("offline", "the machine has just disconnected", since)


def settling(since: int) -> Refusal:
    """A machine that has not said in time what became of what earlier links had sent it."""
    return unavailable(
        "settling",
        "the machine has not said yet what became of earlier inputs; nothing was sent",
        since,
    )


def no_screen(why: str, since: int | None) -> Refusal:
    """A machine that is connected and shows no screen, now or since a moment (ms since 1970)."""
    return unavailable("no_screen", f"the machine shows no screen: {why}", since)


def not_on_screen(why: str, code: str, loc: tuple[str, ...]) -> Refusal:
    """What was asked for is not to be had on the desktop as it is; ``loc`` says what."""
    return Refusal(kind=RefusalKind.NOT_ON_SCREEN, detail=why, code=code, loc=loc)


def no_vision(why: str) -> Refusal:
    """A screen that nobody looks at for whoever asks."""
    return unavailable("no_vision", f"its screen is not looked at: {why}", None)


def no_clipboard(why: str, since: int | None) -> Refusal:
    """A machine that is connected, whose clipboard cannot be used so."""
    return unavailable("no_clipboard", f"the machine's clipboard: {why}", since)


def without_elements(why: str) -> Refusal:
    """A machine that says that it has none: asking again would change nothing."""
    return Refusal(kind=RefusalKind.NO_ELEMENTS, detail=f"the machine tells of no elements: {why}")


def no_elements(why: str, since: int | None) -> Refusal:
    """A machine that has elements, and did not tell of them when it was asked."""
    return unavailable("no_elements", f"the machine tells of no elements: {why}", since)


def unavailable(
    reason: UnavailableReason, detail: str, since: int | None, *, by: str | None = None
) -> Refusal:
    """A machine that cannot do it, since now or ``since`` (ms since 1970); nothing was sent."""
    now = server_time()
    since = now if since is None else since
    is_new = now - since < JUST_MILLISECONDS
    return Refusal(
        kind=RefusalKind.UNAVAILABLE,
        detail=detail,
        reason=reason,
        since=since,
        by=by,
        retry_seconds=RETRY_SOON if is_new else RETRY_UNAVAILABLE,
    )


def is_unanswered(refusal: Refusal) -> bool:
    """Whether a machine has shown nothing for a moment alone, or had no time to.

    One that has said that it has no screen, or tells of no elements, says since when.
    """
    if refusal.kind is RefusalKind.BUSY:
        return True
    if refusal.reason not in ("no_screen", "no_elements") or refusal.since is None:
        return False
    return server_time() - refusal.since < JUST_MILLISECONDS


def unreachable(node_name: str, since: int | None) -> Refusal:
    """A machine that is connected to a node which this one cannot reach; nothing was sent."""
    return unavailable(
        "unreachable",
        f"the machine is connected to the node {node_name}, which this node cannot reach",
        since,
    )


def not_understood(why: str) -> Refusal:
    """A machine whose node refuses what this one says, such as of another version."""
    return unavailable(
        "unreachable",
        f"the node that the machine is connected to refuses what this one forwards: {why}",
        None,
    )


def unknown_machine(machine_id: str) -> Refusal:
    """No such machine, or one of another organization: the same answer for both."""
    return Refusal(kind=RefusalKind.UNKNOWN_MACHINE, detail=f"there is no machine {machine_id!r}")


def too_many_viewers(most: int) -> Refusal:
    """As many look at live screens of this server as it has room for."""
    return Refusal(
        kind=RefusalKind.TOO_MANY_VIEWERS,
        detail=f"{most} viewers look at live screens of this server, which are as many as it has "
        "room for",
        retry_seconds=RETRY_SOON,
    )


def clipboard_unreadable(code: str, why: str) -> Refusal:
    """A clipboard that the machine could not read; ``code`` is its own word for why."""
    return Refusal(kind=RefusalKind.CLIPBOARD_UNREADABLE, detail=why, code=code)


def in_progress() -> Refusal:
    """The first request with this key is not over."""
    return Refusal(
        kind=RefusalKind.KEY_IN_PROGRESS,
        detail="the first request with this Idempotency-Key is still under way",
        retry_seconds=RETRY_SOON,
    )


def key_reused() -> Refusal:
    """The key belongs to another request."""
    return Refusal(
        kind=RefusalKind.KEY_REUSED,
        detail="this key was used for another request; use a new key for a new request",
    )


def storage_unavailable(why: str) -> Refusal:
    """The database does not answer; nothing was sent."""
    return Refusal(kind=RefusalKind.STORAGE_UNAVAILABLE, detail=why)


class RefusedError(Exception):
    """Nothing was done: ``refusal`` says why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal


def accepted(reply: R | Refusal) -> R:
    """A reply that is none of these.  Raises RefusedError."""
    if isinstance(reply, Refusal):
        raise RefusedError(reply)
    return reply
