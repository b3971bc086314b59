"""``farhand trajectory import`` and ``export``: JSON lines, one object a line."""

from pathlib import Path
from typing import BinaryIO
from uuid import UUID

import click

from server.cli.client import Api, api_options


@click.group()
def trajectory() -> None:
    """Trajectories: recorded sequences of steps."""


@trajectory.command("import")
@click.argument("file", type=click.File("rb"))
@api_options
def import_trajectories(api: Api, file: BinaryIO) -> None:
    """Import trajectories from FILE (- is standard input), one JSON object a line.

    A line that is wrong is named with its number, nothing of it is kept, and the others go on.
    What is there already, with its id and all that the line says, is left as it is: an import that
    was broken off is simply started again.
    """
    # Imported late, as it imports the client library.
    from server.cli.transfer.importing import import_lines  # noqa: PLC0415

    import_lines(api, file)


@trajectory.command("export")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option("--workflow", type=click.UUID, help="Only the trajectories of this workflow.")
@click.option("--all", "every_state", is_flag=True, help="Those pending generation too.")
@api_options
def export_trajectories(api: Api, file: Path, workflow: UUID | None, every_state: bool) -> None:
    """Export trajectories to FILE (- is standard output), one JSON object a line.

    The lines are written beside FILE first, which is replaced when all of them are there.  An
    export that was broken off goes on after its last whole line when it is started again.
    """
    # Imported late, as it imports the client library.
    from server.cli.transfer.exporting import export_lines  # noqa: PLC0415

    query = {"is_generated": "null" if every_state else "true"}
    if workflow is not None:
        query["workflow_id"] = str(workflow)
    export_lines(api, file, query)
