"""Elements on a compositor that does not tell where windows are: asked, and never pressed."""

from collections.abc import Iterator

import pytest

from machine_client.desktop.base import DesktopError
from machine_client.desktop.wayland.desktop import WaylandDesktop
from schemas.inputs.selectors import Selector, Sought
from tests.machine_client.desktop.accessibility.rig import Program, accessible_desktop
from tests.machine_client.desktop.wayland.compositor import Sway

SAVE = Selector(role="push button", name="Save", application="gtk3*")


@pytest.fixture
def program(compositor: Sway) -> Iterator[Program]:
    """A program of GTK 3 on the compositor."""
    with accessible_desktop() as desktop:
        desktop.environment |= {
            "WAYLAND_DISPLAY": compositor.name,
            "XDG_RUNTIME_DIR": str(compositor.directory),
            "GDK_BACKEND": "wayland",
        }
        with desktop.gtk3() as shown:
            yield shown


def test_element_is_asked_and_has_no_place(compositor: Sway, program: Program) -> None:
    elements = WaylandDesktop(compositor.name).elements()
    assert elements.why_none() is None
    (seen,) = elements.listed(Sought(name="Save"), at=None, limit=9, depth=None).elements
    assert (seen.role, seen.bounds) == ("push button", None)
    with pytest.raises(DesktopError, match=r"element\.invoke") as raised:
        elements.find(SAVE, place=True)
    assert raised.value.code == "elements_unavailable"
    elements.invoke(elements.find(SAVE, place=False))
    assert program.said == ["clicked Save"]
    elements.close()
