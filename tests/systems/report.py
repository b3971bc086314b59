"""What was seen on each system, and what differs between them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

PACKAGES = (
    *("python3", "xvfb", "sway", "tigervnc-standalone-server", "qemu-system-x86"),
    *("chromium-headless-shell", "nginx", "systemd"),
)
"""Whose versions a reader of the README may want to know."""

MOST_DEMO_SECONDS = 120.0
"""In which a reader of the README has seen it work, what is installed for it included."""


@dataclass
class Seen:
    """One system; ``tests`` has what became of each, as ``passed``, ``failed`` or ``skipped``."""

    demo_seconds: float | None = None
    did_tests_end_well: bool = False
    versions: dict[str, str] = field(default_factory=dict)
    tests: dict[str, str] = field(default_factory=dict)

    @property
    def is_well(self) -> bool:
        """Whether the demo works soon enough, and there are tests, which end well."""
        return (
            self.demo_seconds is not None
            and self.demo_seconds < MOST_DEMO_SECONDS
            # The command ends otherwise where it cannot begin, or pytest finds no tests in a file.
            and self.did_tests_end_well
            and {*self.tests.values()} in ({"passed"}, {"passed", "skipped"})
        )


def read_results(file: Path) -> dict[str, str]:
    """What pytest wrote of each test; empty where it wrote nothing."""
    if not file.exists():
        return {}
    return {
        f"{case.get('classname')}::{case.get('name')}": _became(case)
        for case in ET.parse(file).iter("testcase")
    }


def _became(case: ET.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "passed" if case.find("skipped") is None else "skipped"


def told(systems: Mapping[str, Seen]) -> list[str]:
    """Everything, in lines for a person."""
    lines = []
    for name, seen in systems.items():
        demo = _demo_told(seen.demo_seconds)
        outcomes = [*seen.tests.values()]
        counts = ", ".join(
            f"{outcomes.count(each)} {each}" for each in ("passed", "failed", "skipped")
        )
        lines += [f"{name}: demo {demo}; tests {counts if outcomes else 'did not run'}"]
        if outcomes and "failed" not in outcomes and not seen.did_tests_end_well:
            lines += ["  make test failed, though none of its tests did"]
        lines += [f"  {package} {version}" for package, version in seen.versions.items()]
    return lines + _differing(systems)


def _demo_told(seconds: float | None) -> str:
    if seconds is None:
        return "failed"
    late = "" if seconds < MOST_DEMO_SECONDS else f", which is not within {MOST_DEMO_SECONDS:.0f} s"
    return f"{seconds:.0f} s{late}"


def _differing(systems: Mapping[str, Seen]) -> list[str]:
    """The tests that fail anywhere, or do not become the same everywhere."""
    lines = []
    for test in sorted({test for seen in systems.values() for test in seen.tests}):
        became = {name: seen.tests.get(test, "absent") for name, seen in systems.items()}
        if len({*became.values()}) > 1 or "failed" in became.values():
            each = ", ".join(f"{outcome} on {name}" for name, outcome in became.items())
            lines.append(f"{test}: {each}")
    return ["what fails or differs:", *(f"  {line}" for line in lines)] if lines else []
