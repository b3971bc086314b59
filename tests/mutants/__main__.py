"""Makes mistakes on purpose, one at a time, and says which test notices each: ``make mutants``.

Arguments are ids of the table, such as M28; without any, all are made.  ``--list`` only shows them.
"""

import argparse
import subprocess
import sys

from tests.mutants.mistakes import read_mistakes
from tests.mutants.scratch import PROJECT, git, scratch_of
from tests.mutants.verdicts import Kind, verdicts


def main() -> int:
    """Run it; 0 where all that is made is noticed."""
    mistakes = read_mistakes()
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="id")
    parser.add_argument("--list", action="store_true", help="only show the mistakes")
    options = parser.parse_args()
    if unknown := [each for each in options.ids if each not in mistakes]:
        parser.error(f"{', '.join(unknown)}: no such mistake; --list shows them")
    chosen = {name: mistakes[name] for name in options.ids or mistakes}
    if options.list:
        for name, mistake in chosen.items():
            print(f"{name:5}{mistake.not_made or mistake.file}: {mistake.mistake}")
        return 0
    try:
        changed = git(PROJECT, "status", "--porcelain")
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"a copy is made of what is committed in a clone: {error}")
    if changed:
        print("what is not committed is not in the copy in which mistakes are made", flush=True)
    seen = []
    with scratch_of() as scratch:
        print(f"{len(chosen)} mistakes; their tests run without any first", flush=True)
        for verdict in verdicts(scratch, chosen):
            print(verdict, flush=True)
            seen.append(verdict)
    counts = ", ".join(f"{sum(each.kind is kind for each in seen)} {kind.value}" for kind in Kind)
    print(counts)
    return 0 if all(each.is_well for each in seen) else 1


if __name__ == "__main__":
    sys.exit(main())
