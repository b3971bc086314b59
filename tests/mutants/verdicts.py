"""Whether the tests notice each mistake."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from tests.mutants.mistakes import CannotBeMadeError, Mistake
from tests.mutants.scratch import Run, Scratch

UNBROKEN_SECONDS = 1800.0
"""For all tests of all mistakes, without any."""
BROKEN_SECONDS = 300.0
"""For the tests of one mistake: a test gives up after two minutes."""


class Kind(Enum):
    """What is said of a mistake."""

    NOTICED = "noticed"
    NOT_NOTICED = "NOT NOTICED"
    CANNOT_BE_MADE = "CANNOT BE MADE"
    NOT_MADE = "not made"


@dataclass(frozen=True)
class Verdict:
    """What came of a mistake: ``how`` is the test that noticed it, or why none did."""

    name: str
    mistake: Mistake
    kind: Kind
    how: str
    seconds: float = 0.0

    @property
    def is_well(self) -> bool:
        """Whether it was noticed, or need not be."""
        return self.kind in (Kind.NOTICED, Kind.NOT_MADE)

    def __str__(self) -> str:
        took = f"{self.seconds:.0f} s" if self.seconds else ""
        return f"{self.name:5}{self.kind.value:15}{took:>6}  {self.mistake.mistake}: {self.how}"


def verdicts(scratch: Scratch, mistakes: Mapping[str, Mistake]) -> Iterator[Verdict]:
    """What comes of each mistake, as soon as that is known.

    First all tests run without any mistake: one that fails then proves nothing.
    """
    nodes: dict[str, list[str]] = {}
    for name, mistake in mistakes.items():
        if mistake.not_made:
            yield Verdict(name, mistake, Kind.NOT_MADE, mistake.not_made)
            continue
        try:
            mistake.made_in(scratch.tree)
            nodes[name] = mistake.nodes_in(scratch.tree)
        except CannotBeMadeError as error:
            yield Verdict(name, mistake, Kind.CANNOT_BE_MADE, str(error))
    if not nodes:
        return
    union = sorted({node for each in nodes.values() for node in each})
    unbroken = scratch.run(union, UNBROKEN_SECONDS)
    for name, tests in nodes.items():
        why_not = _why_proof_is_none(unbroken, tests)
        if why_not:
            yield Verdict(name, mistakes[name], Kind.CANNOT_BE_MADE, why_not)
            continue
        with scratch.with_mistake(mistakes[name]):
            broken = scratch.run(tests, BROKEN_SECONDS, "-x")
        yield _judged(name, mistakes[name], unbroken, broken)


def _why_proof_is_none(unbroken: Run, nodes: list[str]) -> str:
    """Why tests would prove nothing; empty where they would."""
    for node in nodes:
        became = {
            result for test, result in unbroken.results.items() if _is_of(_dotted(node), test)
        }
        if "failed" in became:
            return f"{node} fails without the mistake as well"
        if "passed" not in became:
            return f"{node} did not run without the mistake: {_end_of(unbroken.said)}"
    return ""


def _judged(name: str, mistake: Mistake, unbroken: Run, broken: Run) -> Verdict:
    failed = broken.failed()
    noticed = [test for test in failed if unbroken.results.get(test) == "passed"]
    if noticed:
        kind, how = Kind.NOTICED, noticed[0].partition("::")[2]
    elif not broken.has_ended:
        kind, how = Kind.NOT_NOTICED, f"its tests did not end in {BROKEN_SECONDS:g} s"
    elif "passed" not in broken.results.values() or failed:
        kind, how = Kind.CANNOT_BE_MADE, f"its tests do not begin: {_end_of(broken.said)}"
    else:
        kind, how = Kind.NOT_NOTICED, f"{' and '.join(mistake.tests)} passed"
    return Verdict(name, mistake, kind, how, broken.seconds)


def _dotted(node: str) -> str:
    """A node as the results name it."""
    file, _, test = node.partition("::")
    return f"{file.removesuffix('.py').replace('/', '.')}::{test}"


def _is_of(dotted: str, test: str) -> bool:
    """Whether a test is a node, or one of its parameters, or in it where it is a file."""
    return test == dotted or test.startswith(dotted if dotted.endswith("::") else f"{dotted}[")


def _end_of(said: str) -> str:
    """The last words of pytest that say something."""
    lines = [line for line in said.splitlines() if re.search(r"\w", line)]
    return " / ".join(lines[-3:])
