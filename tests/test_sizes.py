"""Files, folders and functions stay small enough to be read at once."""

import ast
import warnings
from collections.abc import Mapping
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
ROOMS = ("schemas", "server", "machine_client", "client")

FULL_FOLDER, MOST_FILES = 14, 20
FULL_FILE, MOST_LINES = 400, 500
MOST_FUNCTION_LINES = 40
PART_OF_SHORT_FUNCTIONS = 0.99

FILES = [file for room in ROOMS for file in sorted((PROJECT / room).rglob("*.py"))]


def name_of(path: Path) -> str:
    return str(path.relative_to(PROJECT))


def bounded(what: str, sizes: Mapping[str, int], full: int, most: int) -> None:
    """Fail with all that is too large, and warn of what is full: the next addition needs a wall."""
    warned = [f"{name} has {size} {what}" for name, size in sizes.items() if full < size <= most]
    if warned:
        warnings.warn("; ".join(warned), stacklevel=2)
    assert [f"{name} has {size} {what}" for name, size in sizes.items() if size > most] == []


@pytest.mark.filterwarnings("default")
def test_folders_have_few_files() -> None:
    folders = {file.parent for file in FILES}
    sizes = {name_of(folder): len(list(folder.glob("*.py"))) for folder in sorted(folders)}
    bounded("files", sizes, FULL_FOLDER, MOST_FILES)


@pytest.mark.filterwarnings("default")
def test_files_are_short() -> None:
    sizes = {name_of(file): len(file.read_text().splitlines()) for file in FILES}
    bounded("lines", sizes, FULL_FILE, MOST_LINES)


def test_what_is_too_large_is_named_and_what_is_full_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="^full has 15 files$"), pytest.raises(AssertionError) as e:
        bounded("files", {"small": 14, "full": 15, "large": 21}, FULL_FOLDER, MOST_FILES)
    assert "large has 21 files" in str(e.value)


def test_nearly_all_functions_are_short() -> None:
    lengths = {
        f"{name_of(file)}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(lengths) > 1000
    long = [name for name, length in lengths.items() if length > MOST_FUNCTION_LINES]
    assert len(long) <= (1 - PART_OF_SHORT_FUNCTIONS) * len(lengths), long
