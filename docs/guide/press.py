"""press.py MACHINE TOTAL: fills in the total of an invoice by name, and waits until it is saved."""

import sys

from farhand import Farhand, actions

SAVE = actions.element("push button", "Save", window="Invoice*")
TOTAL = actions.element("text", "Total", window="Invoice*")

with Farhand() as farhand:
    desk = farhand.machine(sys.argv[1])
    desk.actions(
        [
            actions.wait_for(actions.seen(SAVE), timeout=60),
            actions.set_value(TOTAL, sys.argv[2]),
            actions.click(element=SAVE),
            actions.wait_for(actions.text("Saved"), timeout=30),
        ]
    )
    print(desk.element("text", "Total").value)
