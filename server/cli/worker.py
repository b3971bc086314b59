"""``farhand worker``: one of the processes that ``farhand serve --workers`` starts."""

import logging
import sys

import click
import uvloop

from server.cli import running
from server.errors import StoreError
from server.foundation import StartError
from server.workers.inherited import InheritedFoundation
from server.workers.place import PlaceError, WorkerPlace


@click.command(hidden=True)
@click.option("--testing", is_flag=True, hidden=True, help="Take failpoints.")
def worker(testing: bool) -> None:
    """Be one of the nodes of farhand serve --workers, which alone starts this command."""
    if sys.stdin.isatty():
        raise click.UsageError("only farhand serve --workers starts this command")
    # The code is loaded while the parent waits for its database, and only then is there a place.
    import server.app  # noqa: F401, PLC0415

    try:
        place = WorkerPlace.from_bytes(sys.stdin.buffer.read())
    except PlaceError as error:
        raise click.UsageError(str(error)) from None
    running.prepare_process(place.settings, testing=testing, node=place.settings.node_name)
    try:
        uvloop.run(_work(place))
    except (StartError, StoreError) as error:
        # The parent says it: of several workers with one reason, once.
        place.report(str(error))
        raise SystemExit(1) from None


async def _work(place: WorkerPlace) -> None:
    from server.app import Server  # noqa: PLC0415

    stopped = running.stop_signal()
    server = Server(place.settings, InheritedFoundation(place))

    def leave() -> None:
        server.is_replaced = True
        stopped.set()

    running.on_reload(leave)
    await server.start()
    place.report()
    running.settle_memory()
    # The parent says it for all.
    await running.run_until_told(stopped, server, logging.DEBUG)
