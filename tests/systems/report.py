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


@dataclass
class Seen:
    """One system; ``tests`` has what became of each, as ``passed``, ``failed`` or ``skipped``."""

    demo_seconds: float | None = None
    versions: dict[str, str] = field(default_factory=dict)
    tests: dict[str, str] = field(default_factory=dict)

    @property
    def is_well(self) -> bool:
        """Whether the demo works, and there are tests, none of which fails."""
        return self.demo_seconds is not None and {*self.tests.values()} in (
            {"passed"},
            {"passed", "skipped"},
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
        demo = "failed" if seen.demo_seconds is None else f"{seen.demo_seconds:.0f} s"
        outcomes = [*seen.tests.values()]
        counts = ", ".join(
            f"{outcomes.count(each)} {each}" for each in ("passed", "failed", "skipped")
        )
        lines += [f"{name}: demo {demo}; tests {counts if outcomes else 'did not run'}"]
        lines += [f"  {package} {version}" for package, version in seen.versions.items()]
    return lines + _differing(systems)


def _differing(systems: Mapping[str, Seen]) -> list[str]:
    """The tests that fail anywhere, or do not become the same everywhere."""
    lines = []
    for test in sorted({test for seen in systems.values() for test in seen.tests}):
        became = {name: seen.tests.get(test, "absent") for name, seen in systems.items()}
        if len({*became.values()}) > 1 or "failed" in became.values():
            each = ", ".join(f"{outcome} on {name}" for name, outcome in became.items())
            lines.append(f"{test}: {each}")
    return ["what fails or differs:", *(f"  {line}" for line in lines)] if lines else []
