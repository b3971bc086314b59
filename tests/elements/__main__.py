"""Elements taken, found again and pressed: ``python -m tests.elements``.

Prints what came of it, for each toolkit on each desktop.  The exit code is 1 where something wrong
was pressed, or more was refused than may be.
"""

import argparse
import os
import sys
from itertools import product

from tests.elements.matrix import BROWSER, LOOK_ALIKES, TOOLKITS, Came, measured
from tests.elements.stages import STAGES

ELEMENTS = 200


def main() -> int:
    """Run, print the tables and each refusal; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.elements", description=__doc__)
    parser.add_argument(
        "--toolkit", choices=TOOLKITS | BROWSER, action="append", help="(default: all but Chromium)"
    )
    parser.add_argument("--on", choices=STAGES, action="append", help="(default: all)")
    parser.add_argument(
        "--elements", type=int, default=ELEMENTS, help=f"of each form (default: {ELEMENTS})"
    )
    parser.add_argument(
        "--look-alikes",
        type=int,
        default=LOOK_ALIKES,
        help=f"of the window that comes beside it (default: {LOOK_ALIKES})",
    )
    parser.add_argument("--each", action="store_true", help="print each that was not right")
    arguments = parser.parse_args()
    is_kept = True
    for toolkit, where in product(arguments.toolkit or TOOLKITS, arguments.on or STAGES):
        outcome = measured(toolkit, arguments.elements, arguments.look_alikes, where)
        is_kept &= outcome.is_kept
        print(outcome.table(), flush=True)
        for each in outcome.tries if arguments.each else ():
            if each.came is not Came.RIGHT:
                print(f"  {each.change}: {each.element} by {each.selector} {each.came}: {each.why}")
    print(f"load of the machine at the end: {os.getloadavg()[0]:.1f}")
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
