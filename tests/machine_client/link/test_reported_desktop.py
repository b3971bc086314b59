"""What the server is told of a desktop that changes."""

import pytest

from machine_client.link.events import (
    DesktopObserved,
    LinkLost,
    LinkOpened,
    MessageReceived,
    SendMessage,
)
from machine_client.work.orders import ReleaseHeld
from schemas.link.messages import Capability, DesktopChanged, Display, Hello, Ready, Released
from tests.machine_client.session_script import A, Script, hello

YES = Capability(available=True)
NO = Capability(available=False, reason="the display is gone")
RELEASED = Released(buttons=["left"], keys=2)


def desktop(
    input_: Capability = YES,
    screen: Capability = YES,
    *,
    width: int = 0,
    released: Released | None = None,
) -> DesktopChanged:
    displays = [Display(x=0, y=0, width=width, height=width)] if width else []
    return DesktopChanged(
        displays=displays, input=input_, screen=screen, elements=YES, released=released
    )


def greeting(input_: Capability = YES, screen: Capability = YES) -> Hello:
    return hello().model_copy(update={"input": input_, "screen": screen})


def linked(said: Hello) -> Script:
    script = Script(linked=False)
    script.on(LinkOpened(said), SendMessage(said))
    script.on(MessageReceived(script.welcome()), SendMessage(Ready()))
    return script


@pytest.mark.parametrize(
    "changed", [desktop(NO), desktop(YES, NO), desktop(NO, NO), desktop(width=800)]
)
def test_change_is_told_once_and_so_is_the_change_back(changed: DesktopChanged) -> None:
    script = linked(greeting())
    script.on(DesktopObserved(desktop()))
    script.on(DesktopObserved(changed), SendMessage(changed))
    script.on(DesktopObserved(changed))
    script.on(DesktopObserved(desktop()), SendMessage(desktop()))


def test_change_is_told_while_a_command_runs() -> None:
    script = linked(greeting())
    script.begun(A)
    script.on(DesktopObserved(desktop(NO)), SendMessage(desktop(NO)))


def test_what_changes_between_hello_and_welcome_is_told_after_ready() -> None:
    script = Script(linked=False)
    script.on(LinkOpened(greeting()), SendMessage(greeting()))
    script.on(DesktopObserved(desktop(NO)))
    welcome = MessageReceived(script.welcome())
    script.on(welcome, SendMessage(Ready()), SendMessage(desktop(NO)))


def test_what_changes_without_a_link_is_in_the_next_hello_and_not_told_again() -> None:
    script = linked(greeting())
    script.on(LinkLost(), ReleaseHeld())
    script.on(DesktopObserved(desktop(NO, NO)))
    script.on(LinkOpened(greeting(NO, NO)), SendMessage(greeting(NO, NO)))
    script.on(MessageReceived(script.welcome()), SendMessage(Ready()))
    script.on(DesktopObserved(desktop(NO, NO)))


def test_what_was_released_is_told_once_even_where_nothing_else_has_changed() -> None:
    script = linked(greeting())
    opened = desktop(released=RELEASED)
    script.on(DesktopObserved(opened), SendMessage(opened))
    script.on(DesktopObserved(desktop()))


def test_what_was_released_before_the_link_is_in_the_next_hello_alone() -> None:
    script = Script(linked=False)
    script.on(DesktopObserved(desktop(released=RELEASED)))
    script.on(DesktopObserved(desktop()))
    said = greeting().model_copy(update={"released": RELEASED})
    script.on(LinkOpened(greeting()), SendMessage(said))
    script.on(MessageReceived(script.welcome()), SendMessage(Ready()))
    script.on(LinkLost(), ReleaseHeld())
    script.on(LinkOpened(greeting()), SendMessage(greeting()))


def test_what_was_released_is_in_every_hello_until_a_server_has_taken_it() -> None:
    script = Script(linked=False)
    script.on(DesktopObserved(desktop(released=RELEASED)))
    said = greeting().model_copy(update={"released": RELEASED})
    for _ in range(2):
        script.on(LinkOpened(greeting()), SendMessage(said))
        script.on(LinkLost(), ReleaseHeld())
    script.on(LinkOpened(greeting()), SendMessage(said))
    more = Released(buttons=["right"], keys=0)
    script.on(DesktopObserved(desktop(released=more)))
    welcome = MessageReceived(script.welcome())
    script.on(welcome, SendMessage(Ready()), SendMessage(desktop(released=more)))
    script.on(LinkLost(), ReleaseHeld())
    script.on(LinkOpened(greeting()), SendMessage(greeting()))
