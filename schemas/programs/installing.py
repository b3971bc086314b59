"""How to install a part of Farhand that is missing; no package index has it."""

import importlib.util
import shlex
import sys
from pathlib import Path


def how_to_install(extra: str) -> str:
    """A command that installs an extra, such as ``server``, in this program's environment."""
    checkout = Path(__file__).parents[1]
    python = shlex.quote(sys.executable or "python3")
    before = _evdev_from_debian() if extra == "machine" else ""
    if (checkout / "pyproject.toml").is_file():
        return f"{before}{python} -m pip install {shlex.quote(f'{checkout}[{extra}]')}"
    return (
        f"{before}{python} -m pip install 'PATH[{extra}]', "
        "where PATH is Farhand's checkout or its wheel"
    )


def _evdev_from_debian() -> str:
    """What lets pip find evdev, which it would have to compile, in an environment of Debian's.

    docs/deployment.md says the same.  Another Python than Debian's cannot use Debian's packages.
    """
    is_debians = sys.base_prefix == "/usr" != sys.prefix
    if not is_debians or importlib.util.find_spec("evdev") is not None:
        return ""
    return (
        "sudo apt-get install python3-venv python3-evdev && "
        # What is in the environment stays there.
        f"/usr/bin/python3 -m venv --system-site-packages {shlex.quote(sys.prefix)} && "
    )
