"""Why a link takes no command, or no more of it; and what it means for a command on its way."""


class UnexpectedAnswerError(Exception):
    """The machine answered what nobody asked, or contradicts itself; ``str()`` says how."""


class FrameFloodError(Exception):
    """The machine sends more than anybody asked for; ``str()`` says how much."""


class LinkLostError(Exception):
    """The link ended after something was sent and before its answer came."""


class SubmissionRefusedError(Exception):
    """The link takes no command now; nothing was sent."""


class LinkDownError(SubmissionRefusedError):
    """The link is not up yet, or over."""


class LinkUnsettledError(SubmissionRefusedError):
    """The machine has not said yet what became of what earlier links had sent it.

    Whoever submits waits for that before; the link does not rely on it.
    """


class LinkBusyError(SubmissionRefusedError):
    """The machine has as many unanswered commands as it may."""


class MachinePausedError(SubmissionRefusedError):
    """The machine is paused, ``since`` then (milliseconds since 1970); ``why`` says who and why."""

    def __init__(self, since: int, why: str) -> None:
        super().__init__(since, why)
        self.since = since
        self.why = why


class MachineControlledError(SubmissionRefusedError):
    """Somebody else holds the machine's control lease, ``since`` then (ms since 1970).

    ``is_run`` is whether it is a run.
    """

    def __init__(self, by: str, since: int, *, is_run: bool = False) -> None:
        super().__init__(by, since)
        self.by = by
        self.since = since
        self.is_run = is_run


class ControlEndedError(SubmissionRefusedError):
    """The control lease that an input came with is over, or was never this machine's."""


class NoClipboardError(SubmissionRefusedError):
    """Nothing can be copied on the machine; ``str()`` says why."""


class NoElementsError(SubmissionRefusedError):
    """The machine's programs do not tell what elements they have; ``str()`` says why."""


class NoInputError(SubmissionRefusedError):
    """The machine's desktop takes no input: ``reason`` says why, ``since`` since when (ms)."""

    def __init__(self, reason: str, since: int) -> None:
        super().__init__(reason, since)
        self.reason = reason
        self.since = since


class NoScreenError(SubmissionRefusedError):
    """Nobody can see the machine's screen: ``reason`` says why, ``since`` since when (ms)."""

    def __init__(self, reason: str, since: int) -> None:
        super().__init__(reason, since)
        self.reason = reason
        self.since = since
