"""What the forms of all toolkits show: rows of elements as programs have them.

Some have a name of their own, some are called alike in every row, some have none.  The programs of
the forms read it with Debian's Python, so it needs nothing.
"""

from typing import NamedTuple

ROW = 5
"""Elements of a row."""

COLUMNS = 2
"""Rows that stand beside each other."""

ALIKE = 4
"""Elements of a second window of the same program, each like one of the form's."""

SECOND = 1000
"""What is added to the numbers of those."""


class Shown(NamedTuple):
    """An element of the form: what it is, and what is written on it or beside it."""

    number: int
    kind: str
    text: str


def shown(count: int) -> list[Shown]:
    """The first elements of a form."""
    return [_shown(number) for number in range(count)]


def _shown(number: int) -> Shown:
    row, place = divmod(number, ROW)
    kinds = (
        ("field", f"Customer {row}"),
        ("check", f"Paid {row}"),
        ("button", "Edit"),
        ("button", f"Order {row}"),
        (("toggle", f"Urgent {row}"), ("slider", "Rebate"), ("icon", ""), ("number", "Pieces"))[
            row % 4
        ],
    )
    return Shown(number, *kinds[place])
