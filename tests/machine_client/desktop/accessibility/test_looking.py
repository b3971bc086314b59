"""Questions about the elements of a real program."""

from machine_client.desktop.accessibility import looking
from machine_client.desktop.accessibility.bus import AccessibilityBus
from machine_client.desktop.accessibility.search import Search
from schemas.inputs.selectors import Sought
from tests.machine_client.desktop.accessibility.rig import AccessibleDesktop, Program


def test_candidates_have_places_and_are_looked_at_again(
    accessible: AccessibleDesktop, program: Program
) -> None:
    bus = AccessibilityBus()
    search = Search(Sought(name="Save"))
    _programs, (seen,) = bus.ask(lambda calls: looking.candidates(calls, search), 20)
    assert looking.is_somewhere(seen.node)
    before = seen.node.bounds
    assert bus.ask(lambda calls: looking.is_still_there(calls, seen), 20)
    program.tell("move", 200, 150)
    assert bus.ask(lambda calls: looking.is_still_there(calls, seen), 20)
    assert seen.node.bounds != before
    program.tell("hide", "Save")
    assert not bus.ask(lambda calls: looking.is_still_there(calls, seen), 20)
    bus.close()


def test_one_process_alone_can_be_looked_at(
    accessible: AccessibleDesktop, program: Program
) -> None:
    bus = AccessibilityBus()
    search = Search(Sought())
    for pid, finds in ((program.pid, True), (1, False)):
        _, found = bus.ask(lambda calls, pid=pid: looking.all_fitting(calls, search, pid=pid), 20)  # type: ignore[misc]
        assert bool(found) is finds
    bus.ask(looking.nothing, 20)
    bus.close()


def test_values_are_searched_where_texts_are_meant(
    accessible: AccessibleDesktop, program: Program
) -> None:
    bus = AccessibilityBus()
    _, found = bus.ask(lambda calls: looking.all_fitting(calls, Search(Sought(text="4711"))), 20)
    assert [each.node.name for each in found] == ["Total"]
    bus.ask(lambda calls: looking.read_details(calls, found), 20)
    bus.close()
