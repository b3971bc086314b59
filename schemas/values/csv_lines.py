"""Lines of comma-separated values, as RFC 4180 has them, that no spreadsheet carries out."""

import csv
from collections.abc import Iterable
from io import StringIO
from typing import Final

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula, which may send away what it finds."""


def csv_line(values: Iterable[object]) -> str:
    """One line with its end; None is nothing, and a text that looks like a formula gets a ``'``."""
    line = StringIO()
    csv.writer(line).writerow([_harmless(value) for value in values])
    return line.getvalue()


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
