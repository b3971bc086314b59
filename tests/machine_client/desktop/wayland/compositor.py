"""sway without a screen, as an ordinary user, for tests; nothing here uses the code under test."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.desktop import program
from tests.processes import go_on, stop
from tests.waiting import WAIT_SECONDS, eventually

_NOBODY = 65534
"""Whose rights sway gets where the tests have those of root, which it refuses."""

ONE_SCREEN = "output HEADLESS-1 resolution 1280x800 position 0 0 scale 1"

_CONFIGURATION = """
xwayland disable
default_border none
focus_follows_mouse no
seat * xcursor_theme default 24
seat seat0 fallback true
swaybg_command -
for_window [app_id="farhand-witness"] fullscreen enable
workspace 1 output HEADLESS-1
workspace 2 output HEADLESS-2
workspace typing output HEADLESS-1
"""


class Sway:
    """A compositor that a test starts, kills and starts again, at the same place.

    ``screens`` are lines of its configuration; the first screen is HEADLESS-1.
    """

    def __init__(self, *screens: str) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="sway-"))
        self._configuration = self.directory / "config"
        self._configuration.write_text("\n".join((*(screens or [ONE_SCREEN]), _CONFIGURATION)))
        self._screens = len(screens) or 1
        self._process: subprocess.Popen[bytes] | None = None
        self.name = str(self.directory / "wayland-1")
        if os.getuid() == 0:
            shutil.chown(self.directory, _NOBODY, _NOBODY)

    def start(self) -> None:
        """Run it until it listens."""
        # One of a sway that was killed makes the next one listen elsewhere.
        (self.directory / "ipc").unlink(missing_ok=True)
        as_user = ["--reuid", str(_NOBODY), "--regid", str(_NOBODY), "--clear-groups"]
        command = [program("sway"), "--config", str(self._configuration)]
        if os.getuid() == 0:
            command = [program("setpriv"), *as_user, *command]
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
                env={
                    "PATH": os.environ["PATH"],
                    "HOME": str(self.directory),
                    "XDG_RUNTIME_DIR": str(self.directory),
                    "SWAYSOCK": str(self.directory / "ipc"),
                    "WLR_BACKENDS": "headless",
                    "WLR_RENDERER": "pixman",
                    "WLR_LIBINPUT_NO_DEVICES": "1",
                    "WLR_HEADLESS_OUTPUTS": str(self._screens),
                },
            )
        eventually(self._listens, "sway listens")

    def _listens(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise RuntimeError(f"sway ended: {(self.directory / 'log').read_text()[-2000:]}")
        return Path(self.name).exists() and self.tell("nop")

    def tell(self, *command: str) -> bool:
        """Have sway do something, as a person's shortcut would; whether it did."""
        return self._message("--", *command).returncode == 0

    @contextlib.contextmanager
    def told_of(self) -> Iterator[None]:
        """This process has its own socket's name meanwhile, as what sway starts has."""
        before = os.environ.get("SWAYSOCK")
        os.environ["SWAYSOCK"] = str(self.directory / "ipc")
        try:
            yield
        finally:
            del os.environ["SWAYSOCK"]
            if before is not None:
                os.environ["SWAYSOCK"] = before

    def has_focus(self, program_id: str) -> bool:
        """Whether the keyboard is a program's."""
        waiting = [json.loads(self.asked("get_tree"))]
        while waiting:
            node = waiting.pop()
            if node["focused"]:
                return bool(node.get("app_id") == program_id)
            waiting += node["nodes"] + node["floating_nodes"]
        return False

    def asked(self, kind: str) -> bytes:
        """What sway answers to a question."""
        return self._message("--type", kind).stdout

    def _message(self, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [program("swaymsg"), "--raw", "--socket", str(self.directory / "ipc"), *arguments],
            capture_output=True,
            check=False,
            timeout=WAIT_SECONDS,
        )

    @property
    def process_id(self) -> int:
        """Of a sway that runs: of the process, and of its group."""
        assert self._process is not None
        return self._process.pid

    def freeze(self) -> None:
        """Let it answer nobody; it reads nothing more when this returns."""
        stop(self.process_id)

    def thaw(self) -> None:
        """Let it go on."""
        go_on(self.process_id)

    def kill(self) -> None:
        """End it as a crash does; what it leaves lying there stays."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def remove(self) -> None:
        """End it for good."""
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


@contextlib.contextmanager
def sway(*screens: str) -> Iterator[Sway]:
    """One that runs, and is ended with the block."""
    compositor = Sway(*screens)
    try:
        compositor.start()
        yield compositor
    finally:
        compositor.remove()
