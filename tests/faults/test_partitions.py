"""What each of two nodes answers while one thing is cut off from another, and that all of it heals.

docs/reference/nodes-apart.md has this as a table.  Cut is that connections break and none can
be made; held up is that nothing comes through, and nobody is told.
"""

from collections.abc import Iterator

import pytest

from tests.faults.pair_of_nodes import HEARTBEAT, WORKS, About, PairOfNodes, Side, Told
from tests.processes import until

OFFLINE = "503 machine-unavailable offline"
UNREACHABLE = "503 machine-unavailable unreachable"
PENDING = "504 outcome-pending"
AGAIN = "200 again"
NO_DATABASE = "503 storage-unavailable"

WITHOUT_DATABASE = Told(NO_DATABASE, *[About(*[NO_DATABASE] * 4)] * 2)


# The pair is started within the first test's time.
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def running_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PairOfNodes]:
    with PairOfNodes.running(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture
def pair(running_pair: PairOfNodes) -> Iterator[PairOfNodes]:
    until(running_pair.all_works, "all works")
    yield running_pair
    running_pair.mend()


def not_reached(side: Side, answer: str) -> About:
    """What another node answers about a machine that it cannot reach."""
    where = f"connected to the node {side.node.name}, which cannot be reached from here"
    return About(answer, answer, AGAIN, f"offline: {where}")


def has_noticed(pair: PairOfNodes, side: Side) -> None:
    """Wait until a node knows that NATS is away."""
    until(lambda: pair.ready(side) == "200 away", f"{side.node.name} notices")


def test_one_node_and_then_both_are_cut_off_from_nats(pair: PairOfNodes) -> None:
    one, two, links = pair.one, pair.two, pair.links()
    pair.cut(one.cables.nats)
    has_noticed(pair, one)
    of_one, of_two = pair.ask(one), pair.ask(two)
    assert of_one() == Told("200 away", WORKS, not_reached(two, UNREACHABLE))
    assert of_two() == Told("200 connected", WORKS, not_reached(one, UNREACHABLE))
    pair.cut(two.cables.nats)
    has_noticed(pair, two)
    of_one, of_two = pair.ask(one), pair.ask(two)
    assert of_one() == Told("200 away", WORKS, not_reached(two, UNREACHABLE))
    assert of_two() == Told("200 away", WORKS, not_reached(one, UNREACHABLE))
    pair.heals()
    assert pair.links() == links


def test_nothing_comes_through_between_one_node_and_nats(pair: PairOfNodes) -> None:
    one, two, links = pair.one, pair.two, pair.links()
    pair.hold(one.cables.nats)
    of_one, of_two = pair.ask(one), pair.ask(two)
    assert of_one() == Told("200 connected", WORKS, not_reached(two, PENDING))
    assert of_two() == Told("200 connected", WORKS, not_reached(one, PENDING))
    has_noticed(pair, one)
    assert pair.ask(one)() == Told("200 away", WORKS, not_reached(two, UNREACHABLE))
    unreachable = Told("200 connected", WORKS, not_reached(one, UNREACHABLE))
    until(lambda: pair.ask(two)() == unreachable, "NATS notices as well")
    pair.heals()
    assert pair.links() == links


def test_nothing_comes_through_between_one_node_and_mongodb(pair: PairOfNodes) -> None:
    one, two, links = pair.one, pair.two, pair.links()
    gone_before = pair.taken_for_gone()
    pair.hold(*one.cables.mongodb)
    pair.forget_tokens()
    of_one, of_two = pair.ask(one), pair.ask(two)
    assert of_two() == Told("200 connected", WORKS, About(PENDING, "200", AGAIN, "online"))
    gone = f"offline: the node {one.node.name}, which it was connected to, is gone"
    until(lambda: pair.state(one, at=two) == gone, "the other node takes it for gone")
    assert pair.ask(two)() == Told("200 connected", WORKS, About(PENDING, "200", AGAIN, gone))
    assert of_one() == WITHOUT_DATABASE
    pair.heals()
    assert pair.links() == links
    assert pair.taken_for_gone() > gone_before


def test_both_nodes_are_cut_off_from_mongodb(pair: PairOfNodes) -> None:
    links, gone = pair.links(), pair.taken_for_gone()
    pair.cut(*pair.one.cables.mongodb, *pair.two.cables.mongodb)
    pair.forget_tokens()
    of_one, of_two = pair.ask(pair.one), pair.ask(pair.two)
    assert of_one() == WITHOUT_DATABASE
    assert of_two() == WITHOUT_DATABASE
    pair.heals()
    assert (pair.links(), pair.taken_for_gone()) == (links, gone)


def test_machine_is_cut_off_from_its_node(pair: PairOfNodes) -> None:
    one, two = pair.one, pair.two
    pair.cut(one.machine_cable)
    offline = About(OFFLINE, OFFLINE, AGAIN, "offline: the connection broke")
    until(lambda: pair.state(one, at=two) == offline.state, "it is found to be offline")
    of_one, of_two = pair.ask(one), pair.ask(two)
    assert of_one() == Told("200 connected", offline, WORKS)
    assert of_two() == Told("200 connected", WORKS, offline)
    pair.heals()


def test_nothing_comes_through_between_a_machine_and_its_node(pair: PairOfNodes) -> None:
    one, two = pair.one, pair.two
    pair.hold(one.machine_cable)
    of_one, of_two = pair.ask(one), pair.ask(two)
    pending = About(PENDING, PENDING, AGAIN, "online")
    assert of_one() == Told("200 connected", pending, WORKS)
    assert of_two() == Told("200 connected", WORKS, pending)
    why = f"no answer to a heartbeat within {HEARTBEAT} s"
    until(lambda: pair.state(one, at=two) == f"offline: {why}", "it is found to be offline")
    of_one, of_two = pair.ask(one), pair.ask(two)
    offline = About(OFFLINE, OFFLINE, AGAIN, f"offline: {why}")
    assert of_one() == Told("200 connected", offline, WORKS)
    assert of_two() == Told("200 connected", WORKS, offline)
    pair.heals()
