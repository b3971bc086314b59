"""How to install a part of Farhand that is missing, in the environment of this program."""

import importlib.util
import sys
from pathlib import Path

from schemas.programs.installing import PythonEnvironment, install_command


def how_to_install(extra: str) -> str:
    """A command that installs an extra, such as ``server``."""
    project = Path(__file__).parents[2]
    environment = PythonEnvironment(
        executable=sys.executable,
        prefix=sys.prefix,
        base_prefix=sys.base_prefix,
        checkout=project if (project / "pyproject.toml").is_file() else None,
        has_evdev=importlib.util.find_spec("evdev") is not None,
    )
    return install_command(extra, environment)
