"""``python -m tests.end_to_end.cloned_host BOOT NAME join …``: the machine client of another host.

All hosts of a test are one, which has one boot and one name.  This one is told what its own are;
all else is the machine client as it is.
"""

import platform
import sys
from pathlib import Path
from typing import Any

from machine_client import __main__ as machine_client
from machine_client.system import boot


def be(boot_file: Path, name: str) -> None:
    """Take these for the kernel's."""
    known: Any = boot
    known._LINUX_FILE = boot_file
    named: Any = platform
    named.node = lambda: name


if __name__ == "__main__":
    be(Path(sys.argv.pop(1)), sys.argv.pop(1))
    machine_client.main()
