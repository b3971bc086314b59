"""Looks whether this system keeps a machine client running, as `farhand-machine install` makes it.

Nothing needs to be installed: whoever runs ``join`` by hand is told so, and nothing is wrong.
"""

from collections.abc import Callable

from machine_client.concurrency.bounded_call import BoundedCall
from machine_client.doctor.finding import Finding, fault
from machine_client.service.base import Service, ServiceError

SECONDS = 5.0

_HOP = "service"
_NOT_INSTALLED = (
    "not installed: a machine client runs as long as somebody runs join; install keeps one running"
)


async def check_service(of_this_system: Callable[[], Service]) -> Finding:
    """Whether one is installed, runs, and with which rights.

    Only one that should run and does not is a failure.
    """
    try:
        service = of_this_system()
    except ServiceError as error:
        return Finding(_HOP, True, str(error))
    try:
        state = await BoundedCall(service.state, _HOP).result(SECONDS)
    except TimeoutError:
        return fault(_HOP, f"the system does not say within {SECONDS:g} s how it is")
    except ServiceError as error:
        return fault(_HOP, f"it is not known whether it runs: {error}")
    if state is None:
        return Finding(_HOP, True, _NOT_INSTALLED)
    if not state.is_running:
        return fault(_HOP, f"{state}; when that is mended, install starts it again")
    return Finding(_HOP, True, str(state))
