"""orders.py MACHINE FILE: types each line of a file, once, however often it is started."""

import sys
from pathlib import Path

from farhand import Farhand

machine, file = sys.argv[1:]
with Farhand() as farhand, farhand.session(file, file=f"{file}.session") as session:
    desk = session.machine(machine)
    for line in Path(file).read_text().splitlines():
        typed = desk.type(f"{line}\n")
        print("was typed before:" if typed.replayed else "typed:", line)
