"""A thousand questions about two thousand machines, as a simple model answers them."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, get_args
from uuid import UUID

from schemas.link.messages import Capability
from schemas.resources.machine_lists import STATES, MachineFilter, MachineSort
from server.clock import milliseconds
from server.dispatch.live_machines import Troubled
from server.dispatch.questions.nodes import LiveMachine
from server.fleet.lists.index import ORDERS, Index
from server.fleet.lists.moment import Moment
from server.fleet.lists.questions import Window, answered, asks_for_states
from server.fleet.lists.rows import row_of
from server.store.machines.documents import (
    LINK_ENDED,
    ClientSummary,
    Labels,
    LinkFacts,
    PauseDetails,
)
from server.store.machines.documents import Machine as StoredMachine
from server.versions import is_outdated

MACHINES, QUESTIONS = 2000, 1000
POOLS = [UUID(int=each) for each in range(1, 9)]
TAGS = ["till", "Till", "floor-2", "berlin", "spare", "10.1"]
VERSIONS = ["0.9.0", "0.10.0", "0.10.1", "1.0.0"]
REASONS = ["the network is away", "Connection reset by the peer", "the client has ended"]
TROUBLES = ["no display", "its desktop is stuck"]
WORDS = ["till", "DESK-1", "2", "berlin", "away", "the", "connected", "nowhere", "ada", "display"]
NODE, FAR, AWAY = (LinkFacts(UUID(int=each), f"node-{each}") for each in (101, 102, 103))
GONE = {f"desk-{number}" for number in range(0, MACHINES, 50)}
"""Where they had a link here, it has just ended."""
START = datetime(2024, 5, 6, tzinfo=UTC)


@dataclass
class Modelled:
    """What one who looks at a machine would say of it."""

    id: str
    name: str
    state: str
    shown: str
    reason: str
    since: int
    is_dark: bool
    tags: tuple[str, ...]
    pools: tuple[UUID, ...]
    version: str | None
    created_at: datetime
    text: str


def time_of(random: Random) -> datetime:
    return START + timedelta(milliseconds=random.randrange(10**7))


def link_of(
    random: Random, stored: StoredMachine
) -> tuple[LiveMachine | None, str, str, int, bool]:
    """What a machine's link says, where it says more than that it is connected, and its state."""
    assert stored.link is not None
    if stored.link is NODE and stored.machine_id in GONE:
        return None, "offline", LINK_ENDED, milliseconds(stored.state_since), False
    if stored.link is AWAY:
        why = f"connected to the node {AWAY.node_name}, which cannot be reached from here"
        return None, "offline", why, milliseconds(stored.state_since), False
    if random.random() < 0.7:
        return None, "online", "connected", 0, False
    since, why = milliseconds(time_of(random)), random.choice(TROUBLES)
    if random.random() < 0.5:
        return LiveMachine(state="no_input", reason=why, since=since), "no_input", why, since, False
    dark = Capability(available=False, reason=why, switched_off=random.random() < 0.5)
    why = f"connected, but its screen cannot be seen: {why}"
    live = LiveMachine(state="online", reason=why, since=since, screen=dark)
    return live, "online", why, since, not dark.switched_off


def stored_machine(random: Random, number: int) -> StoredMachine:
    is_set_up, is_linked = random.random() < 0.9, random.random() < 0.6
    paused = random.random() < 0.1
    client = ClientSummary("Linux", random.choice(VERSIONS), ())
    return StoredMachine(
        organization_id=UUID(int=1),
        machine_id=f"desk-{number}",
        name=f"{random.choice(['Desk', 'till', 'Till'])} {random.randrange(300)}",
        paused=paused,
        paused_since=time_of(random) if paused else None,
        created_at=time_of(random),
        epoch=1,
        connected_at=START if is_set_up else None,
        disconnected_at=None if is_linked or not is_set_up else START,
        state_since=time_of(random),
        reason=random.choice(REASONS) if is_set_up and not is_linked else None,
        client=client if is_set_up else None,
        link=random.choice([NODE, NODE, FAR, AWAY]) if is_set_up else None,
        pause=PauseDetails("Ada", "the printer"),
        labels=Labels(
            tuple(sorted(random.sample(TAGS, random.randrange(4)))),
            tuple(random.sample(POOLS, random.randrange(3))),
        ),
    )


def modelled(random: Random, stored: StoredMachine, live: dict[UUID, Any]) -> Modelled:
    """The model of a machine; what its link says is put into ``live``."""
    state, reason, since, is_dark = "offline", stored.reason or "it has never connected", 0, False
    since = milliseconds(stored.state_since)
    if stored.is_linked:
        assert stored.link is not None
        said, state, reason, since, is_dark = link_of(random, stored)
        if said is not None:
            live[stored.link.node_id][stored.machine_id] = said
    if stored.paused:
        assert stored.paused_since is not None
        state, reason, is_dark = "paused", "Ada paused the machine: the printer", False
        since = milliseconds(stored.paused_since)
    is_new = state == "offline" and stored.client is None
    return Modelled(
        id=stored.machine_id,
        name=stored.name,
        state=state,
        shown="not_set_up" if is_new else state,
        reason=reason,
        since=since,
        is_dark=is_dark,
        tags=tuple(stored.labels.tags),
        pools=tuple(stored.labels.pools),
        version=stored.client.client_version if stored.client else None,
        created_at=stored.created_at,
        text="\n".join((stored.machine_id, stored.name, reason, *stored.labels.tags)).lower(),
    )


def natural(text: str) -> list[tuple[int, int | str]]:
    """Digits as numbers, and before other characters; letters without case."""
    parts = re.findall(r"\d+|\D", text.lower())
    return [(0, int(each)) if each.isdecimal() else (1, each) for each in parts]


def is_in_trouble(each: Modelled) -> bool:
    return each.shown in ("offline", "no_input") or each.is_dark


def looked_after(each: Modelled) -> str:
    """What it is called beside its state."""
    if each.shown == "not_set_up":
        return each.shown
    return "in_trouble" if is_in_trouble(each) else "fine"


def by_state(each: Modelled) -> tuple[int, int, Any, str]:
    in_trouble = is_in_trouble(each)
    places = {"paused": 1, "online": 2, "not_set_up": 3}
    place = 0 if in_trouble else places[each.shown]
    return place, -each.since if in_trouble else 0, natural(each.name), each.id


KEYS: dict[str, Callable[[Modelled], Any]] = {
    "id": lambda each: each.id,
    "name": lambda each: (natural(each.name), each.id),
    "created_at": lambda each: (each.created_at, each.id),
    "version": lambda each: (each.version is None, natural(each.version or ""), each.id),
    "state": by_state,
}


def asked(random: Random) -> dict[str, Any]:
    """A question: each filter is there now and then."""
    values: dict[str, Any] = {
        "tag": ",".join(random.sample(TAGS, random.choice([1, 1, 2]))),
        "state": ",".join(random.sample(STATES, random.choice([1, 1, 2]))),
        "version": ",".join(random.sample(VERSIONS, random.choice([1, 2]))),
        "search": " ".join(random.sample(WORDS, random.choice([1, 1, 2, 3]))),
    }
    return {name: value for name, value in values.items() if random.random() < 0.3}


def in_states(model: list[Modelled], question: dict[str, Any]) -> list[Modelled]:
    """Those that fit the states that are asked for."""
    if "state" not in question:
        return model
    chosen = set(question["state"].split(","))
    return [each for each in model if {each.state, each.shown, looked_after(each)} & chosen]


def without(question: dict[str, Any], name: str) -> dict[str, Any]:
    return {each: value for each, value in question.items() if each != name}


def fitting(
    model: list[Modelled], question: dict[str, Any], pools: frozenset[UUID] | None
) -> list[Modelled]:
    """Those that fit all but the state."""
    if pools is not None:
        model = [each for each in model if any(pool in pools for pool in each.pools)]
    if "tag" in question:
        tags = question["tag"].split(",")
        model = [each for each in model if any(tag in tags for tag in each.tags)]
    if "version" in question:
        versions = question["version"].split(",")
        model = [each for each in model if each.version in versions]
    for word in question.get("search", "").lower().split():
        model = [each for each in model if word in each.text]
    return model


class Fleet:
    """Machines, what their links say, the model of them, and the index that follows them."""

    def __init__(self, random: Random) -> None:
        self.random, self.index = random, Index()
        self.stored: dict[str, StoredMachine] = {}
        self.model: dict[str, Modelled] = {}
        self.live: dict[UUID, Any] = {NODE.node_id: {}, FAR.node_id: {}, AWAY.node_id: None}
        for number in range(MACHINES):
            self.put(stored_machine(random, number))
        self.orders = {name: sorted(self.model.values(), key=key) for name, key in KEYS.items()}

    def put(self, stored: StoredMachine) -> None:
        """A machine is there, or is another now."""
        self.forget(stored.machine_id)
        self.stored[stored.machine_id] = stored
        self.model[stored.machine_id] = modelled(self.random, stored, self.live)
        self.index.put(row_of(stored))

    def forget(self, machine_id: str) -> None:
        """A machine is gone, or was never there."""
        self.stored.pop(machine_id, None)
        self.model.pop(machine_id, None)
        for said in (self.live[NODE.node_id], self.live[FAR.node_id]):
            said.pop(machine_id, None)

    def change(self) -> None:
        """Some machines are others now, some are gone, some have come back."""
        for number in self.random.sample(range(MACHINES), 20):
            if self.random.random() < 0.2:
                self.forget(f"desk-{number}")
                self.index.remove(f"desk-{number}")
            else:
                self.put(stored_machine(self.random, number))
        self.orders = {name: sorted(self.model.values(), key=key) for name, key in KEYS.items()}

    def moment(self) -> Moment:
        """How all are now."""
        stored = self.stored.values()
        linked = {each.machine_id for each in stored if each.is_linked and each.link is NODE}
        return Moment(self.index, Troubled(self.live, NODE.node_id, linked - GONE))


def test_a_thousand_questions_are_answered_as_the_model_does() -> None:
    random = Random(33)
    fleet = Fleet(random)
    moment = fleet.moment()
    sizes: Counter[bool] = Counter()
    for number in range(QUESTIONS):
        if number % 10 == 9:
            fleet.change()
            moment = fleet.moment()
        sort: MachineSort = random.choice(get_args(MachineSort))
        question = asked(random)
        pools = frozenset(random.sample(POOLS, 2)) if random.random() < 0.3 else None
        wanted = MachineFilter.model_validate(question)
        found = answered(fleet.index, moment, wanted, pools, sort, counts=True)

        of_model = fitting(fleet.orders[sort.strip("-")], question, pools)
        counts = Counter(each.state for each in of_model)
        counts["not_set_up"] = sum(each.shown == "not_set_up" for each in of_model)
        counts["in_trouble"] = sum(map(is_in_trouble, of_model))
        counts["fine"] = sum(looked_after(each) == "fine" for each in of_model)
        counts["outdated"] = sum(is_outdated(each.version) for each in of_model)
        assert found.counts is not None
        told = found.counts.states.model_dump()
        assert told == {name: counts[name] for name in told}, (question, sort)
        everything = [*fleet.model.values()]
        others = in_states(fitting(everything, without(question, "tag"), pools), question)
        tags = Counter(tag for each in others for tag in each.tags)
        named = {*question["tag"].split(",")} if "tag" in question else set()
        assert found.counts.tags == {tag: tags[tag] for tag in {*tags, *named}}, question
        others = in_states(fitting(everything, question, None), question)
        in_pools = Counter(pool.hex for each in others for pool in each.pools)
        here = {*in_pools, *(each.hex for each in pools or ())}
        assert found.counts.pools == {pool: in_pools[pool] for pool in here}, question
        of_model = in_states(of_model, question)
        ids = [each.id for each in of_model]
        ids = ids[::-1] if sort.startswith("-") else ids
        assert (found.ids, found.total) == (ids, len(ids)), (question, sort)

        window = Window(random.choice([0, 7, len(ids), len(ids) + 5]), random.choice([1, 100]))
        is_moment_asked_for = asks_for_states(wanted, sort, counts=False)
        page = answered(
            fleet.index, moment if is_moment_asked_for else None, wanted, pools, sort, window
        )
        assert page.ids == ids[window.skip :][: window.limit]
        assert (page.total, page.counts) == (len(ids), None)
        sizes[bool(ids)] += 1
    # It would say nothing if most found nothing.
    assert sizes[True] > QUESTIONS / 2


def test_index_holds_nothing_of_machines_that_are_gone() -> None:
    fleet = Fleet(Random(1))
    for order in ORDERS:
        assert len(fleet.index.in_order(order)) == MACHINES
    index = fleet.index
    for machine_id in [*fleet.stored, "nowhere"]:
        index.remove(machine_id)
    files = (index.by_pool, index.by_tag, index.by_version, index.by_state, index.by_node)
    assert (index.rows, index.node_names, *files) == ({}, {}, {}, {}, {}, {}, {})
    assert [index.in_order(order) for order in ORDERS] == [[]] * len(ORDERS)
