"""What can go wrong between a command and a machine's link."""


class LinkDownError(Exception):
    """The link cannot carry anything now; nothing was sent."""


class LinkLostError(Exception):
    """The link ended after something was sent and before its answer came."""


class LinkBusyError(Exception):
    """The machine has as many unanswered commands as it may; nothing was sent."""
