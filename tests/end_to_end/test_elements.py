"""Elements of a real program, from a request to what the program says was done to it, and back."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from farhand import ElementAmbiguous, ElementMissing, Farhand, Machine, actions
from schemas.steps.step import Step
from tests.end_to_end.system import Workstation
from tests.machine_client.desktop.accessibility.rig import AccessibleDesktop, accessible_desktop
from tests.machine_client.desktop.accessibility.rig import Program as Shown
from tests.processes import ServedApi, ServerProcess, running
from tests.waiting import eventually

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
SAVE = actions.element("push button", "Save", window="Invoice*")


@pytest.fixture(scope="module")
def accessible() -> Iterator[AccessibleDesktop]:
    with accessible_desktop() as desktop:
        yield desktop


@pytest.fixture
def workstation(
    shared_server: ServerProcess, api: ServedApi, accessible: AccessibleDesktop, tmp_path: Path
) -> Iterator[Workstation]:
    machine = Workstation.added(shared_server.url, api, accessible.display, tmp_path)
    with machine.joined():
        yield machine


@pytest.fixture
def desk(shared_server: ServerProcess, workstation: Workstation) -> Iterator[Machine]:
    """The machine in a program's hands."""
    with closing(Farhand(shared_server.url, shared_server.administrators_token())) as farhand:
        yield farhand.machine(workstation.machine)


@pytest.fixture
def shown(accessible: AccessibleDesktop) -> Iterator[Shown]:
    """A program that shows an invoice, and says what was done to it."""
    with accessible.gtk3() as program:
        yield program


def test_program_of_the_guide_waits_and_presses_by_name(
    workstation: Workstation,
    shared_server: ServerProcess,
    accessible: AccessibleDesktop,
    tmp_path: Path,
) -> None:
    variables = {
        "FARHAND_URL": shared_server.url,
        "FARHAND_TOKEN": shared_server.administrators_token(),
    }
    command = ("python", str(GUIDE / "press.py"), workstation.machine, "47.12")
    # It waits until the window is there.
    with (
        running(tmp_path / "press.log", variables, *command) as program,
        accessible.gtk3() as shown,
    ):
        assert program.ends() == 0, program.output
        assert shown.said[-2:] == ["changed 47.12", "clicked Save"]
    assert program.output == "47.12\n"


def test_page_shows_the_program() -> None:
    told = (GUIDE / "actions.md").read_text().split("```python\n")[2].split("```")[0]
    assert told in (GUIDE / "press.py").read_text()


def test_what_is_at_a_place_is_pressed_again_by_its_selector(desk: Machine, shown: Shown) -> None:
    assert desk.get().elements.available
    buttons = [each for each in desk.elements(role="push button").items if each.bounds]
    assert len(buttons) > 10
    for button in buttons:
        assert button.bounds is not None
        x, y = (
            button.bounds.x + button.bounds.width // 2,
            button.bounds.y + button.bounds.height // 2,
        )
        there = desk.elements(at=(x, y), limit=1).items[0]
        if there.name != button.name:
            continue  # It lies behind another, or beyond the edge of what scrolls.
        assert there.selector == {"role": "push button", "name": button.name}
        if button.name != "Talk":
            desk.click(element=there)
            assert shown.said == [f"clicked {button.name}"]


def test_none_or_several_press_nothing(desk: Machine, shown: Shown) -> None:
    shown.tell("twin", "Save")
    with pytest.raises(ElementAmbiguous):
        desk.click(element=SAVE)
    shown.tell("disable", "Cancel")
    with pytest.raises(ElementMissing, match="disabled"):
        desk.click(element=actions.element("push button", "Cancel"))
    ref = desk.element("push button", "Button 1").ref
    shown.tell("rename", "Button 1 to Button 99")
    with pytest.raises(ElementMissing):
        desk.click(element={"ref": ref})
    with pytest.raises(ElementMissing):
        desk.invoke(actions.element("push button", "Nowhere"))
    assert shown.said == []


def test_element_is_waited_for_until_it_is_there_and_until_it_is_gone(
    desk: Machine, shown: Shown
) -> None:
    shown.tell("hide", "Cancel")
    cancel = actions.element("push button", "Cancel")
    assert desk.wait(element=cancel, timeout=0.5).matched is None
    shown.tell("show", "Cancel")
    seen = desk.wait(element=cancel, timeout=60)
    assert seen.matched == 0
    assert seen.at is not None
    shown.tell("hide", "Cancel")
    assert desk.wait(actions.seen(cancel, gone=True), timeout=60).matched == 0


def test_program_that_stands_still_holds_up_nobody(
    desk: Machine, shown: Shown, accessible: AccessibleDesktop
) -> None:
    with accessible.gtk3(title="Another") as stuck:
        stuck.stop()
        listed = desk.elements(window="Invoice*")
        assert "Save" in {each.name for each in listed.items}
        assert listed.silent != []
        assert desk.move(5, 5).pointer.x == 5
        stuck.go_on()
    desk.click(element=SAVE)
    assert shown.said == ["clicked Save"]


def test_password_is_told_to_nobody(desk: Machine, shown: Shown) -> None:
    told = desk.elements()
    assert "geheim" not in told.model_dump_json()
    assert desk.elements(text="geheim").items == []
    assert shown.said == []
    eventually(lambda: desk.elements(name="Password").items, "the field is there")


def test_names_that_are_hostile_are_told_cut_and_found_again(desk: Machine, shown: Shown) -> None:
    names = {"Button 1": "x" * 1_000_000, "Button 2": "a\x07b", "Button 3": "<b>*?\\</b>"}
    for old, new in names.items():
        shown.tell("rename", f"{old} to {new}")
    told = {each.name[:1]: each for each in desk.elements(role="push button").items}
    for name in names.values():
        found = told[name[0]]
        assert len(found.name) == min(200, len(name))
        assert "name" in found.selector
        desk.invoke(found)
        assert shown.said == [f"clicked {name}"]


def test_recorded_step_proposes_what_came_with_it(
    desk: Machine, api: ServedApi, shown: Shown
) -> None:
    talk = desk.element("push button", "Talk")
    assert talk.bounds is not None
    x, y = talk.bounds.x + 5, talk.bounds.y + 5

    def proposed() -> list[Any] | None:
        """What was, once elements were asked for before and after a click in time."""
        desk.key("escape")
        desk.wait(still=1)
        desk.click(x, y)
        desk.wait(still=1)
        kept = api.call("GET", f"/v1/trajectories/{recording.trajectory_id}").json
        steps = kept["trajectory_data"] or []
        return [each["proposed"] for each in steps if "proposed" in each] or None

    with desk.record(name="Talk") as recording:
        first = eventually(proposed, "something is proposed")[0]
    desk.key("escape")
    assert {"element": {"role": "label", "name": r"Sure\?"}} in first
    for condition in first:
        Step.model_validate({"operation": "wait_for", "body": {"any": [condition]}})


def test_recorded_step_says_what_was_at_its_place(
    desk: Machine, api: ServedApi, shown: Shown
) -> None:
    save = desk.element("push button", "Save")
    assert save.bounds is not None
    x, y = save.bounds.x + 5, save.bounds.y + 5

    def named() -> Any:
        """The last step that says which element it was at, once these were asked for in time."""
        desk.wait(still=1)
        desk.click(x, y)
        kept = api.call("GET", f"/v1/trajectories/{recording.trajectory_id}").json
        steps = kept["trajectory_data"] or []
        return next((each for each in reversed(steps) if "element" in each["target"]), None)

    with desk.record(name="Save it") as recording:
        desk.click(x, y)
        step = eventually(named, "a step says which element it was at")
    target = step["target"]
    assert target["element"] == {"role": "push button", "name": "Save"}
    assert target["box"] == dict(save.bounds)
    assert (target["display"], target["crop"]["picture"]) == (0, step["picture"])
    area = target["crop"]["area"]
    assert 0 <= x - area["x"] < area["width"]
    assert 0 <= y - area["y"] < area["height"]
