"""What came of each run of the gauntlet, and what of that is not as it must be."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tests.finding.judging import Came


@dataclass(frozen=True)
class Way:
    """How a workflow was recorded: by hand or a program, and whether its form told of elements."""

    by_elements: bool
    by_hand: bool

    def __str__(self) -> str:
        what = "elements" if self.by_elements else "pictures"
        return f"{what}, {'by hand' if self.by_hand else 'by the API'}"


WAYS: Final = tuple(Way(one, other) for one in (True, False) for other in (False, True))

MOST_NEEDLESS: Final = {True: 1 / 5, False: 2 / 3}
"""Of the runs for which all was there, so many may halt: by elements, and by pictures alone."""


@dataclass(frozen=True)
class Result:
    """A run: what came of it, ``is_able`` whether all was there, ``how`` in the product's words."""

    workflow: str
    toolkit: str
    change: str
    way: Way
    seed: int
    came: Came
    is_able: bool
    how: str

    @property
    def is_needless(self) -> bool:
        """Whether it halted where all was there, visible and alone."""
        return self.is_able and self.came is Came.HALTED

    @property
    def sign(self) -> str:
        """It as a sign in a table."""
        if self.came is Came.RIGHT:
            return "+"
        return "!" if self.came is Came.WRONG else "o" if self.is_able else "."

    def __str__(self) -> str:
        return (
            f"{self.sign} {self.workflow} ({self.toolkit}, {self.way}, seed {self.seed}) "
            f"after {self.change}: {self.came}, {self.how}"
        )


def wrong(results: Iterable[Result]) -> list[Result]:
    """What should never be."""
    return [each for each in results if each.came is Came.WRONG]


def needless(results: Sequence[Result], *, by_elements: bool) -> tuple[int, int]:
    """How many halts were not needed, of how many runs for which all was there."""
    able = [each for each in results if each.is_able and each.way.by_elements is by_elements]
    return sum(each.is_needless for each in able), len(able)


def are_as_they_must(results: Sequence[Result]) -> bool:
    """Whether nothing was wrong, and few halts were not needed."""
    if wrong(results):
        return False
    for by_elements, most in MOST_NEEDLESS.items():
        halts, able = needless(results, by_elements=by_elements)
        if halts > most * able:
            return False
    return True


def table(results: Sequence[Result]) -> str:
    """All of it as plain text: a table for each way, and what is to be read of it."""
    lines = ["+ right, . halted as it must, o halted needlessly, ! wrong"]
    for way in dict.fromkeys(each.way for each in results):
        lines += _table_of(way, [each for each in results if each.way == way])
    for by_elements in (True, False):
        halts, able = needless(results, by_elements=by_elements)
        if able:
            what = "by elements" if by_elements else "by pictures alone"
            lines.append(f"{what}: {halts} of {able} halts were not needed ({halts / able:.0%})")
    bad = wrong(results)
    lines.append(f"{len(bad)} wrong of {len(results)} runs")
    lines += map(str, bad)
    lines += [str(each) for each in results if each.is_needless]
    return "\n".join(lines)


def _table_of(way: Way, results: Sequence[Result]) -> list[str]:
    workflows = list(dict.fromkeys(each.workflow for each in results))
    lines = ["", f"{way!s:22}" + "".join(f"{name:>9}" for name in workflows)]
    for change in dict.fromkeys(each.change for each in results):
        cells = (
            "".join(each.sign for each in results if (each.change, each.workflow) == (change, name))
            for name in workflows
        )
        lines.append(f"{change:22}" + "".join(f"{cell:>9}" for cell in cells))
    return lines
