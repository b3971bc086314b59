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
from dataclasses import dataclass, field
from pathlib import Path

from machine_client.system.private_files import make_private_directory, make_private_file
from schemas.link.messages import HOST_HEADER, JOIN_HEADER
from schemas.resources.tokens import TOKEN_PREFIX


@dataclass
class Credentials:
    """A machine's token, and the file that it belongs into.

    ``code`` is there until the server knows the token.
    """

    token: str = field(repr=False)
    code: str | None = field(default=None, repr=False)
    file: Path | None = None
    is_kept: bool = True
    """Whether the token is in the file already, and not beside it."""

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
        if not self.is_kept and self.file is not None:
            _unjoined(self.file).replace(self.file)
            self.code, self.is_kept = None, True

    def renewed(self, code: str) -> "Credentials":
        """A new token in the place of this one, which stays until the server knows the new one.

        Raises OSError, and ValueError where there is no file for it.
        """
        if self.file is None:
            raise ValueError("it was given without a file that a new one could be kept in")
        if self.is_kept:
            _unjoined(self.file).unlink(missing_ok=True)
        return joining(self.file, code)

    def beside(self) -> "Credentials | None":
        """The token beside this one's file: the server may know it, and have been cut off."""
        if self.file is None or not self.is_kept:
            return None
        try:
            token = _unjoined(self.file).read_text().strip()
        except OSError:
            return None
        return Credentials(token, None, self.file, is_kept=False) if token else None


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
    return Credentials(token, code, file, is_kept=False)


def _unjoined(file: Path) -> Path:
    """Where a token is kept with which nobody has joined yet."""
    return file.with_name(f"{file.name}.joining")
