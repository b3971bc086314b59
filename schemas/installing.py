"""How to install a part of Farhand that is missing; no package index has it."""

import sys
from pathlib import Path


def how_to_install(extra: str) -> str:
    """A command that installs an extra, such as ``server``, in this program's environment."""
    checkout = Path(__file__).parents[1]
    python = sys.executable or "python3"
    if (checkout / "pyproject.toml").is_file():
        return f"{python} -m pip install '{checkout}[{extra}]'"
    return f"{python} -m pip install 'PATH[{extra}]', where PATH is Farhand's checkout or its wheel"
