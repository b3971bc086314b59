"""A copy of the committed tree, whose tests are run with its own code."""

import contextlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mistakes import Mistake, put
from tests.processes import environment
from tests.systems.report import read_results

PROJECT = Path(__file__).parents[2]

GIT_SECONDS = 120.0
ENDING_SECONDS = 30.0
"""For pytest to end what its tests have started, once it is told to."""


@dataclass(frozen=True)
class Run:
    """What became of tests: ``results`` as `read_results` has them, ``said`` is their output.

    ``has_ended`` is whether they ended in time.
    """

    results: Mapping[str, str]
    said: str
    seconds: float
    has_ended: bool

    def failed(self) -> list[str]:
        """The tests that failed, or could not begin."""
        return [test for test, became in self.results.items() if became == "failed"]


class Scratch:
    """The copy; mistakes are made in it one at a time."""

    def __init__(self, directory: Path) -> None:
        self.tree = directory / "tree"
        self._temporary = directory / "t"
        self._results = directory / "results.xml"
        self._said = directory / "said"

    @contextlib.contextmanager
    def with_mistake(self, mistake: Mistake) -> Iterator[None]:
        """Make a mistake for as long as the block lasts.  Raises CannotBeMadeError."""
        file, wrong = self.tree / mistake.file, mistake.made_in(self.tree)
        right = file.read_text()
        put(file, wrong)
        try:
            yield
        finally:
            put(file, right)

    def run(self, nodes: Sequence[str], seconds: float, *options: str) -> Run:
        """Run tests, for so long at most."""
        # Whatever these tests start finds the copy's code before that of the environment's tree.
        variables = environment(PYTHONPATH=str(self.tree))
        command = [
            *(sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"),
            *(f"--basetemp={self._temporary}", f"--junitxml={self._results}", *options, *nodes),
        ]
        self._results.unlink(missing_ok=True)
        began = time.monotonic()
        with self._said.open("w") as said:
            pytest = subprocess.Popen(
                command, cwd=self.tree, env=variables, stdout=said, stderr=said
            )
            try:
                pytest.wait(seconds)
                has_ended = True
            except subprocess.TimeoutExpired:
                has_ended = False
            finally:
                _end(pytest)
        seconds = time.monotonic() - began
        # Each test that fails leaves its databases.
        shutil.rmtree(self._temporary, ignore_errors=True)
        return Run(read_results(self._results), self._said.read_text(), seconds, has_ended)


@contextlib.contextmanager
def scratch_of(project: Path = PROJECT) -> Iterator[Scratch]:
    """A copy of what was committed last in a tree; it is removed in the end."""
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as directory:
        scratch = Scratch(Path(directory))
        commit = git(project, "rev-parse", "HEAD").strip()
        git(project, "clone", "--quiet", "--shared", "--no-checkout", ".", str(scratch.tree))
        git(scratch.tree, "checkout", "--quiet", "--detach", commit)
        yield scratch


def git(tree: Path, *arguments: str) -> str:
    """What git says."""
    return subprocess.run(
        ["git", *arguments],
        cwd=tree,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=GIT_SECONDS,
    ).stdout


def _end(pytest: "subprocess.Popen[bytes]") -> None:
    """Have pytest end, which ends what its tests have started."""
    if pytest.poll() is None:
        pytest.send_signal(signal.SIGINT)
        try:
            pytest.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            pytest.kill()
            pytest.wait()
