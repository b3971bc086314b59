"""The command line of the server: run it, administer it, look what is wrong.

Exit codes: 0 done, 1 failed, 2 used wrongly.  What a program may want to read goes to standard
output, alone; everything said to people goes to standard error.
"""

import click

from server.cli.administration import command, organization, token
from server.cli.demo import demo
from server.cli.doctor import doctor
from server.cli.importing import trajectory
from server.cli.machines import machine
from server.cli.serve import serve


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="farhand")
def farhand() -> None:
    """Send mouse and keyboard input to remote desktops, at most once."""


for part in (serve, demo, organization, token, machine, command, trajectory, doctor):
    farhand.add_command(part)
