"""Tries the README's two commands on bare systems: ``make test-systems``, as root.

Arguments are suites of Debian: bookworm and trixie, unless others are named.  ``--whole`` runs all
tests, and not only those of what differs between systems; ``--mirror`` names where packages are.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.systems.bare_root import NoBareRootError, bare_root
from tests.systems.report import MOST_DEMO_SECONDS, PACKAGES, Seen, read_results, told

TESTS = (
    *(
        "tests/machine_client",
        "tests/end_to_end/test_other_desktops.py",
        "tests/browser/test_still.py",
    ),
    *("tests/test_services.py", "tests/test_packaging.py", "tests/test_cluster.py"),
)
"""Those of desktops, browsers, services and packaging, whose real parts come from the system."""
MOST_TEST_SECONDS = 3 * 3600.0
RESULTS = "/srv/results.xml"


def try_on(suite: str, mirror: str, log: Path, tests: tuple[str, ...]) -> Seen:
    """Make a bare system, run both commands there, and say what was seen."""
    seen = Seen()
    with bare_root(suite, mirror, log) as root:
        began = time.monotonic()
        if root.succeeds("make demo ARGS=--once", 5 * MOST_DEMO_SECONDS):
            seen.demo_seconds = time.monotonic() - began
        seen.did_tests_end_well = root.succeeds(
            f"make test ARGS='--junitxml={RESULTS} {' '.join(tests)}'", MOST_TEST_SECONDS
        )
        seen.tests = read_results(root.file(RESULTS))
        installed = root.output(
            f"dpkg-query --show --showformat='${{Package}} ${{Version}}\\n' {' '.join(PACKAGES)}"
            " 2>/dev/null || true"
        )
        seen.versions = dict(line.split(" ", 1) for line in installed.splitlines())
    return seen


def main() -> int:
    """Run it; 0 where everything is well everywhere."""
    parser = argparse.ArgumentParser(prog="make test-systems", description=__doc__)
    parser.add_argument("suites", nargs="*", default=["bookworm", "trixie"])
    parser.add_argument("--mirror", default="http://deb.debian.org/debian")
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    logs = Path(tempfile.mkdtemp(prefix="farhand-systems-"))
    systems = {}
    for suite in options.suites:
        log = logs / f"{suite}.log"
        print(f"{suite}: a bare system, the demo and the tests; the log is {log}", flush=True)
        try:
            systems[suite] = try_on(suite, options.mirror, log, () if options.whole else TESTS)
        except NoBareRootError as error:
            sys.exit(str(error))
    print("\n".join(told(systems)))
    return 0 if all(seen.is_well for seen in systems.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
