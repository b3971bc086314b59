"""Files, folders and functions stay small enough to be read at once."""

import ast
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
ROOMS = ("schemas", "server", "machine_client")

MOST_FILES = 14
MOST_LINES = 400
MOST_FUNCTION_LINES = 40
PART_OF_SHORT_FUNCTIONS = 0.99

FILES = [file for room in ROOMS for file in sorted((PROJECT / room).rglob("*.py"))]
FOLDERS = sorted({file.parent for file in FILES})


def name_of(path: Path) -> str:
    return str(path.relative_to(PROJECT))


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_folder_has_few_files(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= MOST_FILES


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_file_is_short(file: Path) -> None:
    assert len(file.read_text().splitlines()) <= MOST_LINES


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
