"""Somebody takes control of a machine for a while, at any server, and gives it back."""

import contextlib
import time
from typing import Final

from tests.faults.by_hand import work_by_hand
from tests.faults.fault_injector import FaultInjector
from tests.faults.hand_history import HandHistory
from tests.faults.history import HAS_CONTROL
from tests.faults.world import Machine
from tests.processes import Answer, ServedApi

CONTROL_SECONDS: Final = (0.2, 3.0)
TRIES: Final = 5
PAUSE_SECONDS: Final = 0.5
RUN_OUT_SECONDS: Final = 45.0
BY_HAND: Final = 0.7
"""Of those who have control, who does something by hand with it."""
LONGEST_SECONDS: Final = 25.0
"""From the first request: a lease ends thirty seconds after it began."""


def take_control(injector: FaultInjector, machine: Machine) -> None:
    """Take control, and give it back; counted only where somebody had it.

    From the answer until it is given back nothing of a program may arrive.
    """
    address = f"/v1/machines/{machine.name}/control"
    asked_at, lease, hand = time.monotonic(), None, None
    for _ in range(TRIES):
        asked_at = time.monotonic()
        answer = _ask(injector, "POST", address, {"take_over": injector.rng.random() < 0.5})
        if answer is not None and answer.status == 201:
            lease = answer.json["id"]
            break
        time.sleep(PAUSE_SECONDS)
    if lease is not None:
        left = asked_at + LONGEST_SECONDS - time.monotonic()
        seconds = min(injector.seconds(CONTROL_SECONDS), max(left, 0.0))
        with injector.record(HAS_CONTROL, machine.name):
            if injector.rng.random() < BY_HAND:
                hand = work_by_hand(injector, machine, lease, seconds)
            else:
                time.sleep(seconds)
        for _ in range(TRIES):
            ended = _ask(injector, "DELETE", f"{address}/{lease}")
            if ended is not None and ended.status in (204, 409):
                _is_over(hand, injector)
                return
            time.sleep(PAUSE_SECONDS)
    # An answer may have been lost, with a lease or with its end: programs wait until it runs out.
    with injector.record("control that nobody gave back", machine.name):
        deadline = time.monotonic() + RUN_OUT_SECONDS
        while time.monotonic() < deadline and not _is_free(injector, machine):
            time.sleep(PAUSE_SECONDS)
    _is_over(hand, injector)


def _is_over(hand: HandHistory | None, injector: FaultInjector) -> None:
    if hand is not None:
        hand.over_at = injector.world.clock()


def _is_free(injector: FaultInjector, machine: Machine) -> bool:
    answer = _ask(injector, "GET", f"/v1/machines/{machine.name}")
    return answer is not None and answer.status == 200 and answer.json["control"] is None


def _ask(
    injector: FaultInjector, method: str, address: str, body: dict[str, bool] | None = None
) -> Answer | None:
    world = injector.world
    api = ServedApi(f"http://127.0.0.1:{injector.rng.choice(world.ports())}", world.token)
    with contextlib.closing(api), contextlib.suppress(OSError):
        return api.call(method, address, body)
    return None
