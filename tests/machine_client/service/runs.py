"""Stands for the system's program that starts others: what it was told, and what it says."""

import subprocess
from collections.abc import Sequence


class Runs:
    """``codes`` has what a command ends with whose words are all in its arguments."""

    def __init__(self, says: str = "it runs\n", **codes: int) -> None:
        self.says = says
        self.told: list[list[str]] = []
        self.files: list[bytes] = []
        self.codes = codes

    def __call__(self, command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        self.told.append([*command])
        for each in command:
            if each.endswith(".xml"):
                with open(each, "rb") as file:  # noqa: PTH123  it is gone afterwards
                    self.files.append(file.read())
        code = next((code for word, code in self.codes.items() if f"/{word}" in command), 0)
        code = next((code for word, code in self.codes.items() if word in command), code)
        return subprocess.CompletedProcess([*command], code, self.says, "it will not\n")
