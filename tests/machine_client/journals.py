"""Journals on disk, as the machine client opens them."""

from pathlib import Path

from machine_client.journal import Journal
from machine_client.journal_file import JournalFile


def journal_in(file: Path) -> Journal:
    """The journal in this file, which is made where there is none."""
    return Journal(JournalFile(file))
