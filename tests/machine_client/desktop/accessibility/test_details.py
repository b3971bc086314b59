"""What is read of real elements, and what never is."""

import asyncio
from pathlib import Path
from typing import Any

from machine_client.desktop.accessibility.bus import AccessibilityBus, Calls
from machine_client.desktop.accessibility.details import read_again, read_bounds, read_values
from machine_client.desktop.accessibility.nodes import Address, Node
from machine_client.desktop.accessibility.programs import read_programs
from machine_client.desktop.accessibility.search import Search
from schemas.inputs.selectors import Sought
from tests.machine_client.desktop.accessibility.rig import AccessibleDesktop, Program

PASSWORDS = Path(__file__).parents[3] / "canaries" / "gtk4_passwords.py"
PASSWORD_TEXT, TEXT = 40, 61


async def shown(calls: Calls) -> dict[str, Node]:
    """Every element of all programs, by its name."""
    programs = await read_programs(calls, Search(Sought()))
    return {node.name: node for each in programs for node in each.windows[0].walk()}


def test_values_and_places_are_read_where_there_are_any(
    accessible: AccessibleDesktop, program: Program
) -> None:
    bus = AccessibilityBus()

    async def read(calls: Calls) -> dict[str, Node]:
        nodes = await shown(calls)
        await read_values(calls, nodes.values())
        await read_bounds(calls, nodes.values(), relative=False)
        return nodes

    nodes = bus.ask(read, 20)
    values = {name: node.value for name, node in nodes.items() if node.value is not None}
    assert values == {"Total": "4711", "Volume": "0"}
    assert nodes["Password"].value is None
    assert nodes["Save"].bounds is not None
    bus.close()


def test_nothing_is_asked_of_what_is_in_a_password_field() -> None:
    """Some toolkits have the text of a field in an element of its own."""
    asked: list[Address] = []

    class ScriptedCalls:
        async def call(self, name: str, path: str, *_: Any) -> str:
            asked.append(Address(name, path))
            return "geheim"

    calls: Any = ScriptedCalls()
    secret, field = (
        Node(Address(":1.7", f"/{role}"), role, "", 0) for role in (PASSWORD_TEXT, TEXT)
    )
    inside = Node(Address(":1.7", "/inside"), TEXT, "", 0, secret, 0)
    asyncio.run(read_values(calls, [secret, inside, field]))
    assert {*asked} == {field.address}
    assert (secret.value, inside.value, field.value) == (None, None, "geheim")


def test_password_in_a_plain_entry_of_gtk_4_is_not_read(accessible: AccessibleDesktop) -> None:
    bus = AccessibilityBus()

    async def read(calls: Calls) -> list[str | None]:
        programs = await read_programs(calls, Search(Sought()))
        nodes = [node for each in programs for node in each.windows[0].walk()]
        await read_values(calls, nodes)
        return [node.value for node in nodes if node.has("editable")]

    script = str(PASSWORDS)
    with accessible.shown(script, "geheim", "Sign in", {"GSK_RENDERER": "cairo"}):
        assert bus.ask(read, 20) == [None, None]
    bus.close()


def test_element_of_another_name_is_another(
    accessible: AccessibleDesktop, program: Program
) -> None:
    bus = AccessibilityBus()
    save = bus.ask(shown, 20)["Save"]
    assert bus.ask(lambda calls: read_again(calls, save), 20)
    program.tell("rename", "Save to Delete")
    assert not bus.ask(lambda calls: read_again(calls, save), 20)
    bus.close()
