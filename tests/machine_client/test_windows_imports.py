"""What the machine client imports on Windows is there: nothing of X11, nothing of POSIX alone.

It runs on Linux, where it pretends, and under Wine, where it need not.
"""

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]

NOT_ON_WINDOWS = (
    *("fcntl", "grp", "pwd", "resource", "syslog", "termios", "tty"),
    *("Xlib", "evdev", "uvloop"),
)
ROOMS_OF_OTHERS = (
    *("machine_client.desktop.x11", "machine_client.desktop.wayland"),
    # It shows what arrives at a virtual X display.
    "machine_client.demo",
)

PROGRAM = f"""
import asyncio, importlib, importlib.util, subprocess, sys
from importlib.metadata import PackageNotFoundError

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {NOT_ON_WINDOWS!r}:
            raise ModuleNotFoundError(f"no {{name}} on Windows", name=name)

for name in {NOT_ON_WINDOWS!r}:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Refuse())
for module in sys.argv[1:]:
    importlib.import_module(module)
print(*sorted(set({NOT_ON_WINDOWS!r}) & set(sys.modules)))
"""


def _modules() -> list[str]:
    files = [
        file
        for room in ("schemas", "machine_client")
        for file in sorted((PROJECT / room).rglob("*.py"))
        if file.stem not in ("__main__", "__init__")
    ]
    names = [".".join(file.relative_to(PROJECT).with_suffix("").parts) for file in files]
    return [name for name in names if not name.startswith(ROOMS_OF_OTHERS)]


def _import(*modules: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *modules],
        cwd=PROJECT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )


def test_everything_for_windows_is_imported_without_what_windows_lacks() -> None:
    imported = _import(*_modules())
    assert (imported.returncode, imported.stdout.strip()) == (0, b""), imported.stderr.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="it is refused by the system itself there")
def test_what_windows_lacks_is_seen() -> None:
    assert b"no fcntl on Windows" in _import("machine_client.desktop.wayland.left_behind").stderr
    assert b"no Xlib on Windows" in _import("machine_client.desktop.x11.connection").stderr
