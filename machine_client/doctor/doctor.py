"""Tries each hop from this desktop to the server, in order, so that a person sees which fails.

It changes nothing: a machine client that runs meanwhile keeps its link, its journal and whatever
it holds down.
"""

import asyncio
import os
from collections.abc import Callable
from typing import TypeVar

from machine_client.desktop.base import DesktopError, InjectionUnavailable
from machine_client.desktop.bounded_call import BoundedCall
from machine_client.doctor.finding import Finding
from machine_client.doctor.network_check import check_network
from machine_client.journal.file import JournalFile, JournalInUse
from machine_client.journal.journal import JournalError
from machine_client.screen.camera import open_camera
from machine_client.screen.grabber import MissingLibraryError, displays
from machine_client.settings import MachineSettings

DESKTOP_SECONDS = 3.0
"""For each look at the desktop, which a program that has grabbed it, or a hung one, can stop."""

T = TypeVar("T")


async def examine(settings: MachineSettings, token: str) -> list[Finding]:
    """Try every hop; where one of the desktop's or the network's fails, none behind it."""
    desktop, network = await asyncio.gather(_desktop(settings), check_network(settings, token))
    return [*desktop, _journal(settings), *network]


async def _desktop(settings: MachineSettings) -> list[Finding]:
    found = [await _display(settings)]
    if found[-1].good:
        found.append(await _input(settings))
        found.append(await _screen(settings))
    return found


async def _display(settings: MachineSettings) -> Finding:
    def look() -> None:
        # Imported late: python-xlib is not installed where there is no X11.
        from machine_client.desktop.x11.check import check_display  # noqa: PLC0415

        check_display(settings.display)

    try:
        await _bounded(look, "display")
        shown = await _bounded(lambda: displays(settings.display), "displays")
    except TimeoutError:
        return Finding(
            "display",
            False,
            "the X server does not answer; a program may have grabbed it: close open menus, unlock "
            "the screen, or restart the graphical session",
        )
    except MissingLibraryError as error:
        return Finding("display", False, str(error))
    except (InjectionUnavailable, DesktopError) as error:
        return Finding("display", False, f"{error}; {_display_remedy()}")
    sizes = ", ".join(f"{display.width}x{display.height}" for display in shown)
    return Finding("display", True, sizes)


def _display_remedy() -> str:
    if os.environ.get("WAYLAND_DISPLAY"):
        return "this is a Wayland session, and this version works on X11: log in to one on Xorg"
    return (
        "run this inside the graphical session, as its user, or name its display with --display "
        "(and its cookie file in XAUTHORITY)"
    )


async def _input(settings: MachineSettings) -> Finding:
    def look() -> None:
        from machine_client.desktop.x11.check import check_input  # noqa: PLC0415

        check_input(settings.display)

    try:
        await _bounded(look, "input")
    except TimeoutError:
        return Finding(
            "input",
            False,
            "the X server takes no input now; a program may have grabbed it: close open menus, or "
            "unlock the screen",
        )
    except InjectionUnavailable as error:
        return Finding("input", False, str(error))
    return Finding("input", True, "mouse and keyboard can be used")


async def _screen(settings: MachineSettings) -> Finding:
    if not settings.screen:
        return Finding("screen", True, "nobody may look at it, as the settings say")
    try:
        size = await _bounded(lambda: _captured_size(settings.display), "screen")
    except TimeoutError:
        return Finding(
            "screen", False, "it gave no picture in time; a program may have grabbed the X server"
        )
    except DesktopError as error:
        return Finding(
            "screen",
            False,
            f"{error}; inputs work without it, and FARHAND_MACHINE_SCREEN=false says that nobody "
            "shall look",
        )
    return Finding("screen", True, f"operators can see {size}")


def _captured_size(display: str | None) -> str:
    camera = open_camera(display)
    try:
        size = camera.capture().size
    finally:
        camera.close()
    return f"{size.width}x{size.height}"


def _journal(settings: MachineSettings) -> Finding:
    file = settings.journal_file
    try:
        JournalFile(file).close()
    except JournalInUse:
        return Finding("journal", True, f"{file}, in use: a machine client runs with it now")
    except JournalError as error:
        return Finding(
            "journal",
            False,
            f"{error}; --state-dir names another directory, which must be this machine's alone",
        )
    return Finding("journal", True, str(file))


async def _bounded(call: Callable[[], T], name: str) -> T:
    return await BoundedCall(call, name).result(DESKTOP_SECONDS)
