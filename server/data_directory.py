"""What a server keeps in its data directory, where the commands on its host find it."""

from pathlib import Path

ADMIN_TOKEN_FILE = "admin-token"  # noqa: S105 - a file's name
ADDRESS_FILE = "address"


def default_data_directory() -> Path:
    """Where a server keeps its data unless told otherwise: ``~/.local/share/farhand``."""
    return Path("~/.local/share/farhand").expanduser()
