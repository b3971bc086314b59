"""Tries each hop from this desktop to the server, in order, so that a person sees which fails.

It changes nothing: a machine client that runs meanwhile keeps its link, its journal and whatever
it holds down.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import TypeVar

from machine_client.concurrency.bounded_call import BoundedCall
from machine_client.desktop.base import (
    Desktop,
    DesktopCheck,
    DesktopError,
    InjectionUnavailable,
    NoElements,
)
from machine_client.desktop.choose import choose_desktop
from machine_client.doctor.finding import Finding, fault
from machine_client.doctor.network_check import check_network
from machine_client.journal.file import JournalFile, JournalInUse
from machine_client.journal.journal import JournalError
from machine_client.settings import MachineSettings
from machine_client.system.private_files import who_else_reads

DESKTOP_SECONDS = 3.0
"""For each look at the desktop, which a program that has grabbed it, or a hung one, can stop."""

T = TypeVar("T")


async def examine(settings: MachineSettings, token: str | None) -> list[Finding]:
    """Try every hop; where one of the desktop's or the network's fails, none behind it.

    ``token`` is None for a machine that has yet to join with a code.
    """
    desktop, network = await asyncio.gather(_desktop(settings), check_network(settings, token))
    return [*desktop, _journal(settings), *_secrets(settings), *network]


async def _desktop(settings: MachineSettings) -> list[Finding]:
    """What is found at the desktop's parts; without a display, nothing else is tried."""
    found = [Finding("desktop", settings.kind_of_desktop is not None, _kind(settings))]
    desktop = choose_desktop(settings.desktop, settings.display, settings.vnc_server)
    for check in desktop.checks():
        found.append(await _checked(check, settings))
        if check.part == "display" and not found[-1].good:
            return found
    return [*found, await _elements(desktop, settings)]


async def _elements(desktop: Desktop, settings: MachineSettings) -> Finding:
    """Whether programs tell what they show: all else works without it."""
    if not (settings.elements and settings.screen):
        return Finding("elements", True, "nobody may see them, as the settings say")
    elements, why_few = desktop.elements(), None
    try:
        why_none = await _bounded(elements.why_none, "elements")
        if why_none is None:
            why_few = await _bounded(elements.why_few, "elements")
    except TimeoutError:
        why_none = "the accessibility bus does not answer: restart the graphical session"
    except DesktopError as error:
        why_none = str(error)
    finally:
        elements.close()
    if why_few is not None and why_none is None:
        return Finding("elements", True, f"of some programs: {why_few}", is_doubtful=True)
    if why_none is None:
        return Finding("elements", True, "programs can tell what they show")
    has_none_of_its_kind = isinstance(elements, NoElements)
    what = f"none: {why_none}; all else works without them"
    return Finding("elements", True, what, is_doubtful=not has_none_of_its_kind)


async def _checked(check: DesktopCheck, settings: MachineSettings) -> Finding:
    if check.part == "screen" and not settings.screen:
        return Finding("screen", True, "nobody may look at it, as the settings say")
    try:
        return Finding(check.part, True, await _bounded(check.look, check.part))
    except TimeoutError:
        return fault(check.part, check.if_silent)
    except (InjectionUnavailable, DesktopError) as error:
        what = str(error)
    if check.part == "screen":
        what += (
            "; inputs work without it, and FARHAND_MACHINE_SCREEN=false says that nobody shall look"
        )
    return fault(check.part, what)


def _kind(settings: MachineSettings) -> str:
    if settings.kind_of_desktop is None:
        return "none of the kinds that this version works on was found here"
    why = "as the settings say" if settings.desktop or settings.vnc else "found on this machine"
    return f"{settings.kind_of_desktop}, {why}"


def _journal(settings: MachineSettings) -> Finding:
    file = settings.journal_file
    try:
        JournalFile(file).close()
    except JournalInUse:
        return Finding("journal", True, f"{file}, in use: a machine client runs with it now")
    except JournalError as error:
        return fault(
            "journal",
            f"{error}; --state-dir names another directory, which must be this machine's alone",
        )
    return Finding("journal", True, str(file))


def _secrets(settings: MachineSettings) -> Iterator[Finding]:
    """The files that only their user should be able to read."""
    for hop, file in settings.secret_files.items():
        try:
            others = who_else_reads(file)
        except OSError as error:
            # A token was read before all this; what is missing of a VNC server's is told there.
            yield Finding(hop, True, f"it is not known who can read it: {error}", True)
            continue
        if others is None:
            yield Finding(hop, True, f"{file}, for its user alone")
        else:
            yield Finding(hop, True, others, is_doubtful=True)


async def _bounded(call: Callable[[], T], name: str) -> T:
    return await BoundedCall(call, name).result(DESKTOP_SECONDS)
