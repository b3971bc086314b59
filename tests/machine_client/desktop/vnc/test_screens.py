"""Screens, as inputs and pictures use them."""

from machine_client.desktop.vnc.rfb.conversation import Conversation, Screen
from machine_client.desktop.vnc.rfb.security import Credentials
from machine_client.desktop.vnc.screens import displays_of, middle_of, region_of
from schemas.link.messages import Display
from schemas.values.pictures import Region


def test_screens_are_displays_and_a_picture_is_of_all() -> None:
    said = Conversation(Credentials(), (), lambda: 0.0)
    said.screens = (Screen(10, 0, 100, 50), Screen(110, 20, 30, 60))
    assert displays_of(said) == [
        Display(x=10, y=0, width=100, height=50),
        Display(x=110, y=20, width=30, height=60),
    ]
    assert region_of(said) == Region(10, 0, 130, 80)
    assert middle_of(said) == (60, 25)
