"""The file with the keys that encrypt secrets: the first one encrypts, all of them decrypt."""

import os
import re
import secrets
import stat
from base64 import b64decode, b64encode
from contextlib import suppress
from pathlib import Path
from typing import Final

from server.secrets.vault import KEY_BYTES, Vault

FILE_NAME: Final = "secret-key"
"""Of the file in the data directory, where no other one is named."""

MOST_KEYS: Final = 32
_KEY: Final = re.compile(r"[A-Za-z0-9+/]{43}=")

_HOW: Final = "A key is 32 random bytes in Base64, one a line: openssl rand -base64 32"


class KeyFileError(Exception):
    """The file cannot be used; ``str()`` says why and what to do."""


def vault_of(path: Path, *, may_make: bool) -> Vault:
    """The vault with the keys of a file; the file is made, for its owner alone, where it may be.

    Raises KeyFileError with a sentence for an operator.
    """
    try:
        if may_make and not path.exists():
            _make(path)
        return Vault(_keys_in(path))
    except OSError as error:
        raise KeyFileError(f"{path}, where the secrets' key is: {error.strerror}. {_HOW}") from None


def _make(path: Path) -> None:
    """Write a new key, whole or not at all, where nobody else has by then."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(b64encode(secrets.token_bytes(KEY_BYTES)) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(beside, path)
    finally:
        beside.unlink()


def _keys_in(path: Path) -> list[bytes]:
    with path.open("rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        content = file.read(64 * 1024)
    if mode & 0o077:
        raise KeyFileError(
            f"{path}, where the secrets' key is, can be read by others: chmod 600 {path}"
        )
    lines = [line.strip() for line in content.decode(errors="replace").splitlines()]
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys or len(keys) > MOST_KEYS:
        raise KeyFileError(f"{path} has {len(keys)} keys, and has to have 1 to {MOST_KEYS}. {_HOW}")
    for number, key in enumerate(keys, 1):
        if not _KEY.fullmatch(key):
            raise KeyFileError(f"{path}: key {number} is none. {_HOW}")
    return [b64decode(key) for key in keys]
