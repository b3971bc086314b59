"""Has the session's programs tell what they show, where its owner agrees, and puts it back."""

import sys
from collections.abc import Iterable

import click

from machine_client.desktop.base import DesktopElements, DesktopError
from machine_client.desktop.choose import choose_desktop
from machine_client.service.base import Service
from machine_client.settings import MachineSettings

_WHAT = (
    "Accessibility is off in this session, so some programs, such as those of Qt, do not tell what "
    "elements they show. Switched on (org.a11y.Status IsEnabled), those that start from then on "
    "tell it to every program of this session, which costs them a little time. The service "
    "switches it on at each start, and farhand-machine uninstall switches it off again."
)


def agreed_switch(
    machines: Iterable[MachineSettings], service: Service, *, wanted: bool | None
) -> DesktopElements | None:
    """The elements that an installed service is to switch on, after their owner has agreed.

    ``wanted`` is what the command line says; None asks, where there is a terminal.  What is on
    without this service stays as it is: that is None, too.  Raises click.ClickException where it is
    wanted and cannot be.
    """
    was_switched = service.switches_accessibility()
    if wanted is False:
        if was_switched:
            switch_back()
        return None
    seen = (each for each in machines if each.elements and each.screen)
    settings = next(seen, None)
    if settings is None:
        if wanted:
            raise click.ClickException(
                "--accessibility is for elements, which nobody may see, as the settings say"
            )
        return None
    desktop = choose_desktop(settings.desktop, settings.display, settings.vnc_server)
    elements = desktop.elements()
    return elements if was_switched or _agreed(elements, wanted=wanted) else None


def _agreed(elements: DesktopElements, *, wanted: bool | None) -> bool:
    try:
        is_on = elements.is_switched_on()
    except DesktopError as error:
        if wanted:
            raise click.ClickException(
                f"accessibility cannot be switched on, so nothing was installed: {error}"
            ) from None
        return False  # There is nothing to agree to; the doctor says what would mend it.
    if is_on:
        if wanted:
            click.echo("accessibility is on already, and stays as it is")
        return False
    if wanted:
        click.echo(_WHAT)
        return True
    if not sys.stdin.isatty():
        click.echo(
            "accessibility is off in this session and stays so; --accessibility switches it on"
        )
        return False
    return click.confirm(f"{_WHAT}\nSwitch it on?")


def switch_on(elements: DesktopElements) -> None:
    """Switch it on now, and say so.  Raises click.ClickException."""
    try:
        elements.switch(on=True)
    except DesktopError as error:
        raise click.ClickException(f"accessibility could not be switched on: {error}") from None
    click.echo(
        "accessibility is on in this session; programs that run already tell once they are started "
        "again"
    )


def switch_back() -> None:
    """Switch off what an installed service had switched on, and say so."""
    try:
        choose_desktop(None, None, None).elements().switch(on=False)
    except DesktopError as error:
        click.echo(f"accessibility was not switched off again in this session: {error}", err=True)
    else:
        click.echo("accessibility is off again in this session, as it was before")
