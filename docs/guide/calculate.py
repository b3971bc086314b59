"""calculate.py MACHINE: has the calculator on its screen work out 12 times 34."""

import sys

from farhand import Farhand, actions

with Farhand() as farhand:
    desk = farhand.machine(sys.argv[1])
    desk.click(160, 60)  # the calculator, which has the keyboard then
    desk.actions([actions.write_clipboard("?"), actions.type("12*34\n"), actions.key("ctrl+c")])
    for _ in range(100):  # it copies in its own time
        if (copied := desk.read_clipboard()) != "?":
            break
    print(copied)
