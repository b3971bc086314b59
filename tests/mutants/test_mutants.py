"""The table of mistakes as it is today, and the runner on a tree with one line of code."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutants.mistakes import CannotBeMadeError, Mistake, read_mistakes
from tests.mutants.scratch import PROJECT, Scratch, git, scratch_of
from tests.mutants.verdicts import Kind, verdicts

MISTAKES = {name: each for name, each in read_mistakes().items() if not each.not_made}

MAIN = "def main():\n    print('farhand says', 1 + 1)\n"
TESTS = """
import subprocess, sys
from pathlib import Path

def said():
    farhand = Path(sys.executable).parent / "farhand"
    return subprocess.run([farhand], capture_output=True, text=True, cwd="/").stdout

def test_words():
    assert said().startswith("farhand says")

def test_sum():
    assert said() == "farhand says 2\\n"

def test_red():
    assert False
"""


def made(
    text: str, instead: str, test: str = "test_sum", file: str = "server/__main__.py"
) -> Mistake:
    return Mistake(mistake="wrong", file=file, text=text, instead=instead, tests=(test,))


def test_every_mistake_has_one_place_and_every_test_of_it_is_there() -> None:
    lost = []
    for name, mistake in MISTAKES.items():
        try:
            mistake.made_in(PROJECT)
            mistake.nodes_in(PROJECT)
        except CannotBeMadeError as error:
            lost.append(f"{name}: {error}")
    assert lost == []
    assert len(read_mistakes()) >= 73


def test_what_is_wrong_can_still_be_read() -> None:
    unreadable = []
    for name, mistake in MISTAKES.items():
        if mistake.file.endswith(".py"):
            try:
                compile(mistake.made_in(PROJECT), mistake.file, "exec")
            except SyntaxError as error:
                unreadable.append(f"{name}: {error}")
    assert unreadable == []


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scratch]:
    """Of a tree in which the program ``farhand`` is one line, and something is not committed."""
    tree = tmp_path_factory.mktemp("tree")
    for name, text in {"server/__main__.py": MAIN, "tests/test_one.py": TESTS}.items():
        (tree / name).parent.mkdir()
        (tree / name).write_text(text)
    (tree / "server/__init__.py").touch()
    git(tree, "init", "--quiet")
    git(tree, "add", ".")
    git(tree, "-c", "user.name=A", "-c", "user.email=a@localhost", "commit", "-qm", "All")
    (tree / "server/__main__.py").write_text("not committed")
    with scratch_of(tree) as scratch:
        yield scratch
    assert (tree / "server/__main__.py").read_text() == "not committed"
    assert not scratch.tree.exists()


def test_what_is_noticed_and_what_is_not_is_told(scratch: Scratch) -> None:
    mistakes = {
        "A": made("1 + 1", "1 + 2"),
        "B": made("1 + 1", "1 + 3", test="test_words"),
        "C": made("1 + 1", "1 + 1 + 0"),
        "D": made("1 + 1", "1 + 2", test="tests/test_one.py::test_red"),
        "E": made("1 + 2", "1 + 3"),
        "F": made("1 + 1", "1 + 2", test="test_nothing"),
        "G": Mistake(mistake="wrong", not_made="nobody adds any more"),
    }
    seen = {each.name: each for each in verdicts(scratch, mistakes)}
    told = {name: (each.kind, each.how) for name, each in seen.items()}
    assert told == {
        "A": (Kind.NOTICED, "test_sum"),
        "B": (Kind.NOT_NOTICED, "test_words passed"),
        "C": (Kind.NOT_NOTICED, "test_sum passed"),
        "D": (
            Kind.CANNOT_BE_MADE,
            "tests/test_one.py::test_red fails without the mistake as well",
        ),
        "E": (Kind.CANNOT_BE_MADE, "its text is not in server/__main__.py"),
        "F": (Kind.CANNOT_BE_MADE, "its test test_nothing is in no file"),
        "G": (Kind.NOT_MADE, "nobody adds any more"),
    }
    assert [name for name, each in seen.items() if each.is_well] == ["G", "A"]
    assert (scratch.tree / "server/__main__.py").read_text() == MAIN


def test_place_that_is_lost_or_not_the_only_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "a.py").write_text("one = 1\ntwo = 1\n")
    for file, text, words in (
        ("server/a.py", " = 1", "its text stands 2 times in server/a.py"),
        ("server/b.py", "two", "server/b.py is not there, but in server/a.py"),
        ("server/a.py", "three", "its text is not in server/a.py"),
    ):
        with pytest.raises(CannotBeMadeError, match=f"^{words}$"):
            made(text, "", file=file).made_in(tmp_path)


def test_tests_that_do_not_end_are_ended(scratch: Scratch) -> None:
    endless = scratch.tree / "tests" / "test_endless.py"
    endless.write_text("import threading\ndef test_endless(): threading.Event().wait()\n")
    run = scratch.run(["tests/test_endless.py"], 1.0)
    assert not run.has_ended
