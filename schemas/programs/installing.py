"""How to install a part of Farhand that is missing; no package index has it."""

import shlex
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PythonEnvironment:
    """Where a program runs, as it found out itself.

    ``checkout`` is None for a program that was installed from a wheel.
    """

    executable: str
    prefix: str
    base_prefix: str
    checkout: Path | None
    has_evdev: bool

    @property
    def needs_debians_evdev(self) -> bool:
        """Whether pip would have to compile evdev, which Debian has for its own Python alone."""
        return self.base_prefix == "/usr" != self.prefix and not self.has_evdev


def install_command(extra: str, environment: PythonEnvironment) -> str:
    """A command that installs an extra, such as ``server``, in a program's environment."""
    python = shlex.quote(environment.executable or "python3")
    needs_evdev = extra == "machine" and environment.needs_debians_evdev
    before = _evdev_from_debian(environment.prefix) if needs_evdev else ""
    # The server's commands call a server by the client library, which no package index has either.
    needs_client = extra == "server"
    if environment.checkout is not None:
        client = [str(environment.checkout / "client")] if needs_client else []
        wanted = shlex.join([*client, f"{environment.checkout}[{extra}]"])
        return f"{before}{python} -m pip install {wanted}"
    client_told = ", and CLIENT the checkout's client or the wheel of that" if needs_client else ""
    return (
        f"{before}{python} -m pip install {'CLIENT ' if needs_client else ''}'PATH[{extra}]', "
        f"where PATH is Farhand's checkout or its wheel{client_told}"
    )


def _evdev_from_debian(prefix: str) -> str:
    """What lets pip find Debian's evdev; docs/guide/second-machine.md says the same."""
    return (
        "sudo apt-get install python3-venv python3-evdev && "
        # What is in the environment stays there.
        f"/usr/bin/python3 -m venv --system-site-packages {shlex.quote(prefix)} && "
    )
