"""The table of mistakes, and where in a tree each of them is made."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, model_validator

TABLE = Path(__file__).parent / "mistakes.toml"

ROOMS = ("schemas", "server", "machine_client")


class CannotBeMadeError(Exception):
    """A mistake has no place in a tree, or none of its own; or its tests are not there."""


class Mistake(BaseModel):
    """A mistake as the table has it; with ``not_made``, why it is not made any more."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mistake: str
    file: str = ""
    text: str = ""
    instead: str = ""
    tests: tuple[str, ...] = ()
    not_made: str = ""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if not self.not_made and not (self.file and self.text and self.tests):
            raise ValueError("a mistake that is made needs file, text and tests")
        if self.text == self.instead and not self.not_made:
            raise ValueError("instead of the text stands the same text")
        return self

    def made_in(self, tree: Path) -> str:
        """Its file's text with the mistake.  Raises CannotBeMadeError."""
        file = tree / self.file
        whole = file.read_text() if file.is_file() else ""
        count = whole.count(self.text)
        if count != 1:
            raise CannotBeMadeError(self._why_not(tree, file, count))
        return whole.replace(self.text, self.instead)

    def nodes_in(self, tree: Path) -> list[str]:
        """Its tests as pytest takes them.  Raises CannotBeMadeError."""
        return [each if "/" in each else _node_of(tree, each) for each in self.tests]

    def _why_not(self, tree: Path, file: Path, count: int) -> str:
        if count > 1:
            return f"its text stands {count} times in {self.file}"
        lacks = f"its text is not in {self.file}" if file.is_file() else f"{self.file} is not there"
        elsewhere = [name for name in _sources(tree) if self.text in (tree / name).read_text()]
        return f"{lacks}, but in {' and '.join(elsewhere)}" if elsewhere else lacks


def read_mistakes(table: Path = TABLE) -> Mapping[str, Mistake]:
    """All of them by their ids, in the table's order."""
    return TypeAdapter(dict[str, Mistake]).validate_python(tomllib.loads(table.read_text()))


def put(file: Path, text: str) -> None:
    """Write a source file, so that nothing runs that was compiled before."""
    file.write_text(text)
    # What is compiled is known by its size and by the second of its time.
    Path(cache_from_source(file)).unlink(missing_ok=True)


def _sources(tree: Path) -> Iterator[str]:
    for room in ROOMS:
        for file in sorted((tree / room).rglob("*")):
            if file.suffix in (".py", ".js"):
                yield file.relative_to(tree).as_posix()


def _node_of(tree: Path, test: str) -> str:
    """A test, perhaps with its parameters, that is named without its file."""
    function = test.partition("[")[0]
    files = _files_of_tests(tree).get(function, [])
    if len(files) != 1:
        where = " and ".join(files) or "no file"
        raise CannotBeMadeError(f"its test {function} is in {where}")
    return f"{files[0]}::{test}"


@cache
def _files_of_tests(tree: Path) -> Mapping[str, list[str]]:
    """In which files there is a test of each name."""
    found: dict[str, list[str]] = {}
    for file in sorted((tree / "tests").rglob("test_*.py")):
        for name in re.findall(r"^(?:async )?def (test_\w+)\(", file.read_text(), re.MULTILINE):
            found.setdefault(name, []).append(file.relative_to(tree).as_posix())
    return found
