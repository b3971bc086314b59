"""Runs machine clients until the program is told to stop: one, or several beside each other.

Each of several has a token, a journal, threads and a link of its own.  One that fails begins again
after a pause, and one that its server will not have ends; the others do not notice.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from machine_client.concurrency.tasks import Tasks
from machine_client.credentials import Credentials
from machine_client.desktop.base import ELEMENTS_UNTOLD
from machine_client.desktop.choose import choose_desktop
from machine_client.journal.file import JournalFile
from machine_client.journal.journal import Journal, JournalError
from machine_client.link.connection import MachineClient
from machine_client.link.failures import MustStopError
from machine_client.settings import MachineSettings
from machine_client.system import event_loop
from machine_client.work.clipboard import MachineClipboard, why_no_clipboard
from machine_client.work.injector import DesktopInjector
from schemas.programs.log_lines import be_about
from schemas.programs.pauses import Pauses

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class JoiningMachine:
    """A machine that joins a server: what it is set to, and what it is known by there."""

    settings: MachineSettings
    credentials: Credentials


async def join_server(machines: Mapping[str, JoiningMachine]) -> None:
    """Run every machine's client, by its name, until SIGINT or SIGTERM.

    Raises what ends the only one: JournalError, `failures.MisconfiguredError`, or
    `failures.MustStopError`, which it does as well where the server will have none of several.
    """
    running = asyncio.current_task()
    assert running is not None  # noqa: S101  a coroutine that runs is in a task
    event_loop.on_stop_signal(running.cancel)
    try:
        if len(machines) == 1:
            await _run_with_newest_token(next(iter(machines.values())))
        else:
            await _run_all(machines)
    except asyncio.CancelledError:
        logger.info("stopped; nothing is held any more")


async def _run_all(machines: Mapping[str, JoiningMachine]) -> None:
    tasks = Tasks()
    try:
        await asyncio.gather(
            *(
                tasks.supervise(partial(_run_again, name, machine), name)
                for name, machine in machines.items()
            )
        )
    finally:
        await tasks.close()
    raise MustStopError("the server will have none of these machines; the lines above say why")


async def _run_again(name: str, machine: JoiningMachine) -> None:
    """Run one of several for as long as its server will have it."""
    be_about(machine=name)
    pauses = Pauses()
    while True:
        pause = pauses.next()
        try:
            await _run_with_newest_token(machine)
        except MustStopError as error:
            logger.error("this machine stops, and the others go on: %s", error)  # noqa: TRY400
            return
        except JournalError as error:
            logger.error("it begins again in %g s: %s", pause, error)  # noqa: TRY400
        await asyncio.sleep(pause)


async def _run_with_newest_token(machine: JoiningMachine) -> None:
    """Run a machine for as long as its server will have it, by any token that its file has had."""
    refused: set[str] = set()
    while True:
        try:
            await _run(machine)
        except MustStopError as error:
            refused.add(machine.credentials.token)
            credentials = _credentials_now(machine)
            if credentials.token in refused:
                # Where the answer to a new token was lost, it is the good one.
                credentials = credentials.beside() or credentials
            if credentials.token in refused:
                raise
            logger.warning("%s; its file has another token by now: it goes on with that", error)
            machine = replace(machine, credentials=credentials)


def _credentials_now(machine: JoiningMachine) -> Credentials:
    """The token as it is kept now; the one that is known where there is none."""
    if not machine.settings.has_joined:
        return machine.credentials
    try:
        return machine.settings.read_credentials()
    except (OSError, ValueError):
        return machine.credentials


async def _run(machine: JoiningMachine) -> None:
    settings = machine.settings
    journal = Journal(JournalFile(settings.journal_file))
    try:
        client = await _client(machine, journal)
        await client.run()
    finally:
        with suppress(JournalError):  # What cannot be written has been told already.
            journal.close()


async def _client(machine: JoiningMachine, journal: Journal) -> MachineClient:
    settings = machine.settings
    desktop = choose_desktop(settings.desktop, settings.display, settings.vnc_server)
    clipboard = MachineClipboard(
        desktop,
        await why_no_clipboard(desktop),
        read=settings.clipboard_read,
        write=settings.clipboard_write,
    )
    # Who may not look at the screen is not told what it shows, either.
    elements = desktop.elements() if settings.elements and settings.screen else None
    return MachineClient(
        settings,
        machine.credentials,
        journal,
        partial(DesktopInjector, desktop, clipboard.can_write.reason, elements or ELEMENTS_UNTOLD),
        clipboard,
        desktop.open_view,
        elements,
    )
