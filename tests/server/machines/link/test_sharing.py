"""What machines have in common is in memory once."""

from schemas.link.messages import Capability
from server.machines.link.sharing import shared


def cannot(reason: str) -> Capability:
    return Capability(available=False, reason=reason)


def test_what_is_equal_is_one() -> None:
    first = shared(cannot("broken"))
    assert shared(cannot("broken")) is first
    assert shared(cannot("locked")) == cannot("locked")
