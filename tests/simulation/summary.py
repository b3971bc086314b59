"""What many seeds came to."""

import json
from collections import Counter
from dataclasses import dataclass, field

FAILED_SHOWN = 20


@dataclass
class Summary:
    """Counts of many seeds.

    ``failed`` has the first broken promise of each seed that broke one, ``history`` what happened
    in the first of them.
    """

    seeds: int = 0
    commands: int = 0
    seconds: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    failed: dict[int, str] = field(default_factory=dict)
    history: list[str] = field(default_factory=list)

    def add(self, other: "Summary") -> None:
        """Count another's seeds too."""
        self.seeds += other.seeds
        self.commands += other.commands
        self.faults += other.faults
        self.facts += other.facts
        self.failed |= other.failed
        self.history = self.history or other.history

    def as_json(self) -> str:
        """For another process."""
        return json.dumps(vars(self))

    @classmethod
    def from_json(cls, text: str) -> "Summary":
        """What another process counted."""
        values = json.loads(text)
        return cls(
            seeds=values["seeds"],
            commands=values["commands"],
            seconds=values["seconds"],
            faults=Counter(values["faults"]),
            facts=Counter(values["facts"]),
            history=values["history"],
            failed={int(seed): what for seed, what in values["failed"].items()},
        )

    def table(self) -> str:
        """For a person."""
        rate = self.seeds / self.seconds if self.seconds else 0.0
        lines = [
            f"{self.seeds} seeds, {self.commands} commands, {self.faults.total()} faults "
            f"in {self.seconds:.1f} s ({rate:.0f} seeds a second)",
            "",
            "faults",
            *(f"  {count:>9}  {name}" for name, count in self.faults.most_common()),
            "",
            "what came of it",
            *(f"  {count:>9}  {name}" for name, count in self.facts.most_common()),
            "",
            f"{len(self.failed)} seeds broke a promise",
        ]
        for seed, what in sorted(self.failed.items())[:FAILED_SHOWN]:
            lines += [f"  seed {seed} (python -m tests.simulation --seed {seed}):", f"    {what}"]
        return "\n".join([*self.history, *lines])
