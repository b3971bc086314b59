"""The session's switch, on a real bus, and what is told of toolkits that are switched off."""

import pytest

from machine_client.desktop.accessibility import switch
from machine_client.desktop.base import DesktopError
from tests.machine_client.desktop.accessibility.rig import AccessibleDesktop


def test_switch_is_what_it_was_set_to(accessible: AccessibleDesktop) -> None:
    for on in (True, False):
        accessible.elements.switch(on=on)
        assert accessible.elements.is_switched_on() is on


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("NO_AT_BRIDGE", "1", "programs of GTK 3 tell nothing: take it out"),
        ("GTK_A11Y", "none", "programs of GTK 4 tell nothing: take it out"),
        ("NO_AT_BRIDGE", "0", None),
    ],
)
def test_toolkit_that_is_switched_off_is_named_with_the_remedy(
    accessible: AccessibleDesktop,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    told: str | None,
) -> None:
    monkeypatch.setenv(variable, value)
    accessible.elements.switch(on=True)
    why = switch.why_few()
    assert why is None if told is None else told in str(why)
    accessible.elements.switch(on=False)
    assert "farhand-machine install --accessibility" in str(switch.why_few())


def test_session_without_a_bus_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
    with pytest.raises(DesktopError, match=r"there is no D-Bus of a session"):
        switch.is_switched_on()
