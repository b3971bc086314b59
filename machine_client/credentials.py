"""What a machine client is known by: its token, and until it has joined, a code as well.

With a code it makes its token itself, keeps it before it shows it, and shows no more than the
token's hash.  So nothing that it is told can be lost: killed at any moment, it comes again with the
same token, and is the same machine.
"""

import hashlib
import os
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from machine_client.system.private_files import make_private_directory, make_private_file
from schemas.link.messages import HOST_HEADER, JOIN_HEADER
from schemas.resources.tokens import TOKEN_PREFIX


@dataclass
class Credentials:
    """A machine's token; ``code`` is there until it has joined, ``file`` where the token goes."""

    token: str
    code: str | None = None
    file: Path | None = None

    @property
    def headers(self) -> Mapping[str, str]:
        """What the handshake says."""
        if self.code is None:
            return {"Authorization": f"Bearer {self.token}"}
        return {
            "Authorization": f"Bearer {self.code}",
            JOIN_HEADER: hashlib.sha256(self.token.encode()).hexdigest(),
            HOST_HEADER: socket.gethostname().encode("ascii", "replace").decode()[:255],
        }

    def joined(self) -> None:
        """The server has taken it in: from now on the token is enough.  Raises OSError."""
        if self.code is not None and self.file is not None:
            _unjoined(self.file).replace(self.file)
            self.code = None


def joining(file: Path, code: str) -> Credentials:
    """A token that the server does not know yet: the one that was made before, or a new one.

    It goes into ``file`` once the server has taken it in.  Raises OSError.
    """
    kept = _unjoined(file)
    make_private_directory(kept.parent)
    make_private_file(kept)
    token = kept.read_text().strip()
    if not token:
        token = TOKEN_PREFIX + secrets.token_urlsafe(32)
        with kept.open("w") as stream:
            stream.write(f"{token}\n")
            stream.flush()
            os.fsync(stream.fileno())
    return Credentials(token, code, file)


def _unjoined(file: Path) -> Path:
    """Where a token is kept with which nobody has joined yet."""
    return file.with_name(f"{file.name}.joining")
