"""The file with the keys that encrypt secrets: the first one encrypts, all of them decrypt."""

from pathlib import Path

from server.secrets.vault import Vault


def vault_of(path: Path, *, may_make: bool) -> Vault:
    """The vault with the keys of a file; the file is made, for its owner alone, where it may be.

    Raises KeyFileError with a sentence for an operator.
    """
    raise NotImplementedError


class KeyFileError(Exception):
    """The file cannot be used; ``str()`` says why and what to do."""
