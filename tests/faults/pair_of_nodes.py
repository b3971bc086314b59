"""Two nodes with a machine each, and what both answer about both machines."""

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tests.faults.cabling import Cable, Cabling
from tests.faults.counted_inputs import CountedInput, CountedInputs, said
from tests.faults.history import Clock
from tests.faults.node import Node, NodeCables
from tests.faults.takeovers import light_machines_at
from tests.faults.world import World
from tests.processes import Answer, ServedApi, until

INPUT_TIMEOUT = "4"
"""Seconds: there are answers that wait for them."""

HEARTBEAT = "3"
"""Seconds: a machine that nothing cuts off answers within them on a busy host as well."""

HEAL_SECONDS = 30.0
"""After this all is as it was before: mostly within two seconds, where the host is not busy."""

TOKEN_SECONDS = 0.2
"""How long a node does not ask MongoDB again whose a token is."""

_NODES_LOST = re.compile(rb"^farhand_nodes_lost\S* (\d+)", re.MULTILINE)
_NODES = re.compile(rb"^farhand_nodes(?:{\S*})? (\d+)", re.MULTILINE)


class About(NamedTuple):
    """What a node answers about one machine.

    To an input under a new key, to one without a key, to a retry of one that was answered before
    anything was cut; and what it says of the machine's state.
    """

    keyed: str
    unkeyed: str
    again: str
    state: str


class Told(NamedTuple):
    """What a node answers: to /readyz, about its own machine, and about the other node's."""

    ready: str
    own: About
    other: About


WORKS = About("200", "200", "200 again", "online")
ALL_WORKS = Told("200 connected", WORKS, WORKS)


@dataclass(frozen=True)
class Side:
    """A node, the machine that is linked to it, and that one's cable.

    ``known`` was answered before anything was cut.
    """

    node: Node
    machine: str
    machine_cable: Cable
    known: CountedInput

    @property
    def cables(self) -> NodeCables:
        """The node's own."""
        assert self.node.cables is not None
        return self.node.cables


class PairOfNodes:
    """Asks both nodes, and cuts, holds up and mends what is between them."""

    def __init__(
        self, world: World, machines: Sequence[str], cables: Sequence[Cable], directory: Path
    ) -> None:
        self._inputs = CountedInputs(directory)
        self._token = world.token
        self._threads = ThreadPoolExecutor(32, thread_name_prefix="ask")
        self._parted: list[Cable] = []
        self.one, self.two = (
            Side(node, machine, cable, self._inputs.new(machine, is_keyed=True))
            for node, machine, cable in zip(world.nodes, machines, cables, strict=True)
        )
        for side in (self.one, self.two):
            assert self._inputs.ask(self._api(side), side.known) == "200"

    @classmethod
    @contextlib.contextmanager
    def running(cls, directory: Path) -> Iterator["PairOfNodes"]:
        """Start everything; yields once all works."""
        settings = {
            "input_timeout": INPUT_TIMEOUT,
            "heartbeat": HEARTBEAT,
            "token_check": str(TOKEN_SECONDS),
        }
        with (
            World.of_cabled_nodes(directory, Clock(), 2, **settings) as world,
            Cabling() as cabling,
        ):
            cables = [cabling.lay(("127.0.0.1", node.server.port)) for node in world.nodes]
            machines = [f"desk-of-{node.name}" for node in world.nodes]
            urls = {
                machine: f"http://127.0.0.1:{cable.port}"
                for machine, cable in zip(machines, cables, strict=True)
            }
            with light_machines_at(urls, world, directory):
                pair = cls(world, machines, cables, directory)
                until(pair.all_works, "all works")
                yield pair
                pair._threads.shutdown(cancel_futures=True)

    def cut(self, *cables: Cable) -> None:
        """Reset their connections, and let none be made."""
        for cable in cables:
            self._parted.append(cable)
            cable.cut()

    def hold(self, *cables: Cable) -> None:
        """Let nothing come through, and tell nobody."""
        for cable in cables:
            self._parted.append(cable)
            cable.hold()

    def mend(self) -> None:
        """Let everything through again."""
        while self._parted:
            self._parted.pop().mend()

    @staticmethod
    def forget_tokens() -> None:
        """Wait until the nodes would ask MongoDB again whose the token is."""
        time.sleep(TOKEN_SECONDS)

    def heals(self) -> None:
        """Mend, and check that all works soon, without a restart, and that answers were true."""
        self.mend()
        until(self.all_works, "all works again", HEAL_SECONDS)
        self._inputs.settle(self._api(self.one))
        assert [side.node.process.starts for side in (self.one, self.two)] == [1, 1]

    def ask(self, side: Side) -> Callable[[], Told]:
        """Begin to ask a node everything; what it answers, once it has answered everything."""
        api = self._api(side)
        other = self.two if side is self.one else self.one
        ready = self._threads.submit(self.ready, side)
        own, others = self._begin(api, side), self._begin(api, other)
        return lambda: Told(ready.result(), own(), others())

    def _begin(self, api: ServedApi, of: Side) -> Callable[[], About]:
        begin, machine = self._threads.submit, of.machine
        inputs = (
            self._inputs.new(machine, is_keyed=True),
            self._inputs.new(machine, is_keyed=False),
            of.known,
        )
        answers = [begin(self._inputs.ask, api, one) for one in inputs]
        view = begin(api.call, "GET", f"/v1/machines/{machine}")
        machines = begin(api.call, "GET", "/v1/machines")

        def about() -> About:
            keyed, unkeyed, again = (answer.result() for answer in answers)
            return About(keyed, unkeyed, again, _state(machine, view, machines))

        return about

    def ready(self, side: Side) -> str:
        """Its answer to /readyz, and how it finds NATS."""
        answer = self._api(side).call("GET", "/readyz")
        return f"200 {answer.json['bus']}" if answer.status == 200 else said(answer)

    def state(self, of: Side, at: Side) -> str:
        """What one node says about the state of a machine."""
        return _shown(self._api(at).call("GET", f"/v1/machines/{of.machine}"))

    def links(self) -> list[tuple[str, str]]:
        """Where the machines' links are, and since when."""
        views = [self._api(each).machine(each.machine) for each in (self.one, self.two)]
        return [(view["node"], view["since"]) for view in views]

    def taken_for_gone(self) -> int:
        """How often one has taken the other for gone."""
        return sum(self._metric(_NODES_LOST, each) for each in (self.one, self.two))

    def _metric(self, of_metric: "re.Pattern[bytes]", side: Side) -> int:
        text = self._api(side).call("GET", "/metrics").body
        return sum(int(each) for each in of_metric.findall(text))

    def all_works(self) -> bool:
        """Whether everything can be done through either node at the first try."""
        sides = self.one, self.two
        # First what leaves no trace.  A node that has just started learns of the other in a second.
        are_online = all(self.state(of, at) == "online" for of in sides for at in sides)
        know_each_other = all(self._metric(_NODES, each) == len(sides) for each in sides)
        return (
            are_online and know_each_other and all(self.ask(each)() == ALL_WORKS for each in sides)
        )

    def _api(self, side: Side) -> ServedApi:
        return ServedApi(side.node.server.url, self._token)


def _state(machine: str, view: Future[Answer], machines: Future[Answer]) -> str:
    """A machine's state, where it is looked at alone and in the list."""
    alone, listed = view.result(), machines.result()
    in_list = said(listed)
    if listed.status == 200:
        in_list = _shown_of(*(each for each in listed.json["items"] if each["id"] == machine))
    return in_list if _shown(alone) == in_list else f"{_shown(alone)}, and listed: {in_list}"


def _shown(view: Answer) -> str:
    return _shown_of(view.json) if view.status == 200 else said(view)


def _shown_of(view: Any) -> str:
    return "online" if view["state"] == "online" else f"{view['state']}: {view['reason']}"
