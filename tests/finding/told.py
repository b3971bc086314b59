"""What both forms tell: on their standard output, and in the record of what was entered and done.

Debian's own Python imports it, as one of the forms.
"""

import json


def say(*words: object) -> None:
    """Tell who asked."""
    print(*words, flush=True)


class Record:
    """A form's own record, a line for each thing that was done since it ``may_write``."""

    def __init__(self, path: str) -> None:
        self.may_write = False
        self._path = path

    def holds(self, name: str, value: object) -> None:
        """Something holds this from now on."""
        self._write({"name": name, "value": value})

    def did(self, words: str) -> None:
        """Something was done."""
        self._write({"did": words})

    def _write(self, line: dict[str, object]) -> None:
        if self.may_write:
            with open(self._path, "a", encoding="utf-8") as file:  # noqa: PTH123  of a small program
                file.write(json.dumps(line) + "\n")
