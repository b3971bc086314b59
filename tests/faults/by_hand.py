"""Somebody with control works by hand: clicks, drags, wheel and keys that tell whose they are."""

import contextlib
import itertools
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.faults.arrivals import HAND_KEYS, POINTER, Kind, Place, Step
from tests.faults.fault_injector import FaultInjector
from tests.faults.hand_history import HandHistory
from tests.faults.inputs import CONTENTS, place_of
from tests.faults.world import Machine
from tests.hand_client import SUBPROTOCOL, button, hand_path, key, move, wheel

PATIENCE_SECONDS: Final = 3.0
BATCH_SECONDS: Final = (0.0, 0.15)
WAITS: Final = 0.5
"""How often somebody waits for the last acknowledgement before they go."""

Event = Mapping[str, Any]

_contents = itertools.count(1)
"""From the other end than those of commands."""


def work_by_hand(
    injector: FaultInjector, machine: Machine, lease: str, seconds: float
) -> HandHistory:
    """Do something at some server for so long, or until that refuses anything or is gone."""
    world, until = injector.world, time.monotonic() + seconds
    history = HandHistory(machine.name, world.clock())
    world.hands.append(history)
    url = f"ws://127.0.0.1:{injector.rng.choice(world.ports())}{hand_path(machine.name, lease)}"
    with (
        contextlib.suppress(OSError, WebSocketException),
        connect(
            url,
            additional_headers={"Authorization": f"Bearer {world.token}"},
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            compression=None,
            proxy=None,
            open_timeout=PATIENCE_SECONDS,
            close_timeout=PATIENCE_SECONDS,
            ping_interval=None,
        ) as websocket,
    ):
        _work(websocket, history, injector.rng, until)
    time.sleep(max(0.0, until - time.monotonic()))
    return history


def _work(
    websocket: ClientConnection, history: HandHistory, rng: random.Random, until: float
) -> None:
    while time.monotonic() < until and not history.is_refused:
        events, steps = rng.choice(KINDS)(rng)
        history.batches.append(steps)
        sequence = len(history.batches)
        websocket.send(json.dumps({"sequence": sequence, "events": list(events)}))
        _hear(websocket, history, rng.uniform(*BATCH_SECONDS))
    if rng.random() < WAITS:
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while history.acknowledged < len(history.batches) and time.monotonic() < give_up_at:
            _hear(websocket, history, 0.1)


def _hear(websocket: ClientConnection, history: HandHistory, seconds: float) -> None:
    until = time.monotonic() + seconds
    with contextlib.suppress(TimeoutError):
        while True:
            history.hear(websocket.recv(max(0.0, until - time.monotonic())))


def _place() -> Place:
    return place_of(CONTENTS - next(_contents))


def _at(place: Place) -> tuple[Event, Step]:
    return move(place.x, place.y), Step(Kind.MOTION, POINTER, place)


def _button(place: Place, *, down: bool) -> tuple[Event, Step]:
    kind = Kind.PRESS if down else Kind.RELEASE
    return button(down, x=place.x, y=place.y), Step(kind, "left", place)


Batch = tuple[Sequence[Event], Sequence[Step]]


def _together(*each: tuple[Event, Step]) -> Batch:
    return [event for event, _ in each], [step for _, step in each]


def _click(_: random.Random) -> Batch:
    place = _place()
    return _together(_at(place), _button(place, down=True), _button(place, down=False))


def _drag(_: random.Random) -> Batch:
    begin, way, end = _place(), _place(), _place()
    return _together(
        _at(begin), _button(begin, down=True), _at(way), _at(end), _button(end, down=False)
    )


def _pressed(_: random.Random) -> Batch:
    """A button goes down, to be let go of by whatever ends this."""
    place = _place()
    return _together(_at(place), _button(place, down=True))


def _stroke(rng: random.Random) -> Batch:
    name = rng.choice(HAND_KEYS)
    return _together(
        (key(name, down=True), Step(Kind.PRESS, name)),
        (key(name, down=False), Step(Kind.RELEASE, name)),
    )


def _turn(rng: random.Random) -> Batch:
    place, amount = _place(), rng.choice([1, 2])
    events, steps = _together(_at(place))
    turned = (Step(Kind.PRESS, "wheel up", place), Step(Kind.RELEASE, "wheel up", place)) * amount
    return [*events, wheel("up", amount) | place._asdict()], [*steps, *turned]


KINDS: Final[Sequence[Callable[[random.Random], Batch]]] = (
    *(_click,) * 3,
    *(_drag,) * 2,
    *(_stroke,) * 3,
    _turn,
    _pressed,
)
