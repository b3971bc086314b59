"""The command line of the server: run it, administer it, look what is wrong.

Exit codes: 0 done, 1 failed, 2 used wrongly.  What a program may want to read goes to standard
output, alone; everything said to people goes to standard error.
"""

from importlib import import_module
from typing import Final

import click

COMMANDS: Final = {
    "serve": "serve",
    "demo": "demo",
    "organization": "administration",
    "token": "administration",
    "session": "administration",
    "machine": "machines",
    "invitation": "invitations",
    "pool": "pools",
    "webhook": "webhooks",
    "recording": "recordings",
    "help": "people.help",
    "run": "people.runs",
    "command": "administration",
    "audit": "audit",
    "workflow": "workflows",
    "trajectory": "library.trajectories",
    "doctor": "doctor",
    "mcp": "mcp",
    "worker": "worker",
}
"""Each command by its name, and the module of this room that has it under that name."""


class LazyGroup(click.Group):
    """Imports a command only when it is asked for.

    Most need the models of the whole API, and one that starts a server must lose no time.
    """

    def list_commands(self, _context: click.Context) -> list[str]:
        """Their names, in order."""
        return sorted(COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """The command of this name, or None."""
        if name not in COMMANDS:
            return None
        found: click.Command = getattr(import_module(f"{__name__}.{COMMANDS[name]}"), name)
        return found


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="farhand")
def farhand() -> None:
    """Send mouse and keyboard input to remote desktops, at most once."""
