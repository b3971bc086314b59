"""The code of earlier versions, from the history of this repository: a whole clone is needed."""

import subprocess
import tarfile
from io import BytesIO
from pathlib import Path

PROJECT = Path(__file__).parent.parent


def source_of(commit: str, directory: Path) -> Path:
    """Put the files of a commit into a directory, which is returned."""
    archived = subprocess.run(
        ["git", "-C", PROJECT, "archive", commit], capture_output=True, check=False
    )
    assert archived.returncode == 0, (
        f"commit {commit} is not in this clone; if it is a shallow one, run "
        f"git fetch --unshallow: {archived.stderr.decode()}"
    )
    with tarfile.open(fileobj=BytesIO(archived.stdout)) as archive:
        archive.extractall(directory, filter="data")
    return directory
