"""Which VNC server is worked on, and what lets us in."""

import re
from dataclasses import dataclass
from pathlib import Path

from machine_client.desktop.base import InjectionUnavailable

_ADDRESS = re.compile(
    r"(?:\[(?P<v6>[^\s\[\]/@]*:[^\s\[\]/@]*)\]|(?P<host>[^\s:/@\[\]]+)):(?P<port>[0-9]{1,5})"
)


@dataclass(frozen=True, slots=True)
class VncServer:
    """A VNC server's host and TCP port, a file with its password, and certificates to trust.

    ``characters`` is how many different keys it takes that its layout may lack: see
    `keyboard.LackedKeys`.
    """

    host: str
    port: int
    password_file: Path | None = None
    ca_file: Path | None = None
    characters: int = 16

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def password(self) -> bytes | None:
        """What is in the first line of the password's file.  Raises InjectionUnavailable."""
        if self.password_file is None:
            return None
        try:
            content = self.password_file.read_bytes()
        except OSError as error:
            raise InjectionUnavailable(
                f"The VNC password cannot be read: {self.password_file}: {error.strerror}"
            ) from None
        password = content.partition(b"\n")[0].rstrip(b"\r")
        if not password:
            raise InjectionUnavailable(f"There is no VNC password in {self.password_file}")
        return password


def parse_address(text: str) -> tuple[str, int]:
    """Host and TCP port.  Raises ValueError, which says what is wrong."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise ValueError("must be a VNC server's host and TCP port, such as 127.0.0.1:5900")
    port = int(found["port"])
    if not 0 < port < 65536:
        raise ValueError("has a port that is not a number from 1 to 65535")
    return found["v6"] or found["host"], port
