"""``farhand demo``: everything on one machine, seen working within a few seconds."""

import io
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

import click
from rich.console import Console

from server.cli.running import MOST_WORKERS
from server.demo import DemoError, Interrupted
from server.demo.children import STOP_SIGNALS


@click.command()
@click.option("--once", is_flag=True, help="End after the tour; the exit code says how it went.")
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where everything is kept.  [default: a temporary directory, removed at the end]",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1, max=MOST_WORKERS),
    default=2,
    show_default=True,
    help="Processes that the server runs as, as with farhand serve.",
)
@click.option(
    "--run/--no-run",
    "has_run",
    default=True,
    help="With a run, which takes half a minute: a form is filled in again, with other values.",
)
def demo(once: bool, data_dir: Path | None, workers: int, has_run: bool) -> None:
    """Show everything: a server, a virtual desktop joined as a machine, and input on it.

    Each of the inputs is sent over HTTP and its acknowledgement printed; a window on the
    virtual desktop shows what arrives.  On a second one a form is filled in, and once more by a
    run, which halts where the form has changed, goes on once a person has helped, and outlives the
    node that works at it.  Then it stays up until Ctrl-C; with --once the demo plays that person.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that lacks a sign is no reason to fail.
        sys.stdout.reconfigure(errors="replace")
    # Imported late, as it imports the client library.
    from server.demo.run import Wanted, run_demo  # noqa: PLC0415

    console = Console(highlight=False)
    for number in STOP_SIGNALS:
        signal.signal(number, _interrupt)
    try:
        with ExitStack() as stack:
            if data_dir is None:
                name = tempfile.TemporaryDirectory(prefix="farhand-demo-")
                data_dir = Path(stack.enter_context(name))
            run_demo(console, data_dir.absolute(), Wanted(workers, once, has_run))
    except DemoError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"the demo cannot use its files: {error}") from None
    except Interrupted:
        raise click.ClickException("interrupted before the end; everything is stopped") from None


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise Interrupted
