"""A bare Debian in a directory, in which commands run as on a system that was just installed."""

import contextlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

PROJECT = Path(__file__).parent.parent.parent
CLONE = "/srv/farhand"
BEYOND_THE_BASE = ("git", "make", "python3", "ca-certificates")
"""What the README takes for granted: the rest is for its commands to install."""

QUESTION_SECONDS = 60.0
SCRIPTS = Path("/usr/share/debootstrap/scripts")

_OF_THE_HOST = ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs/ca-certificates.crt")
"""By which it reaches the same network, through proxies that have certificates of their own."""
_INSIDE = """
mount -t proc proc "$1/proc"
for directory in dev sys; do mount --rbind /$directory "$1/$directory"; done
root=$1
shift
exec chroot "$root" "$@"
"""
_INTO_IT: Sequence[str] = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--mount", "--pid", "--fork", "--kill-child"),
    *("sh", "-ec", _INSIDE, "sh"),
)
"""Before the directory and a command.  Mounts and processes end with the namespaces, whatever
becomes of this process, and with their first process where a command takes too long."""


class NoBareRootError(Exception):
    """A bare system cannot be made here; the message says why, and what would help."""


class BareRoot:
    """One that was made; see `bare_root`."""

    def __init__(self, directory: Path, log: Path) -> None:
        self._directory = directory
        self._log = log

    def succeeds(self, command: str, seconds: float) -> bool:
        """Run a command in the clone, with its output in the log; whether it ended well in time."""
        with self._log.open("ab") as log:
            try:
                return self._run(command, log.fileno(), seconds).returncode == 0
            except subprocess.TimeoutExpired:
                log.write(f"\n{command} did not end within {seconds:g} s\n".encode())
                return False

    def output(self, command: str) -> str:
        """What a command prints."""
        return self._run(command, subprocess.PIPE, QUESTION_SECONDS).stdout.decode()

    def file(self, path: str) -> Path:
        """Where one of its files is for us."""
        return self._directory / path.lstrip("/")

    def _run(
        self, command: str, output: int, seconds: float
    ) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [
                *_INTO_IT,
                str(self._directory),
                *("env", "-i", *(f"{name}={value}" for name, value in _environment().items())),
                *("bash", "-c", f"cd {CLONE} && {command}"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=seconds,
        )


@contextlib.contextmanager
def bare_root(suite: str, mirror: str, log: Path) -> Iterator[BareRoot]:
    """Make one of a Debian ``suite``, with a clone of what is committed here, for the block.

    Takes a minute, and 3 GB while tests run in it.  Raises NoBareRootError.
    """
    _check()
    with tempfile.TemporaryDirectory(prefix=f"farhand-{suite}-") as name:
        directory = Path(name)
        directory.chmod(0o755)
        packages = ",".join(BEYOND_THE_BASE)
        with log.open("wb") as output:
            for command in (
                f"debootstrap --variant=minbase --include={packages} {suite} {name} {mirror}"
                f" {_script(suite)}",
                f"git clone --quiet {shlex.quote(str(PROJECT))} {name}{CLONE}",
            ):
                if subprocess.run(
                    shlex.split(command), stdout=output, stderr=output, check=False
                ).returncode:
                    raise NoBareRootError(f"no bare {suite} could be made: see {log}")
        for path in _OF_THE_HOST:
            if Path(path).exists():
                shutil.copy(path, directory / path.lstrip("/"))
        yield BareRoot(directory, log)


def _script(suite: str) -> str:
    """How a suite is made; one that is newer than debootstrap is made as Debian's others are."""
    return suite if (SCRIPTS / suite).exists() else "sid"


def _check() -> None:
    if os.geteuid():
        raise NoBareRootError("bare systems need root's rights: run make test-systems as root")
    if shutil.which("debootstrap") is None:
        raise NoBareRootError("bare systems need debootstrap: sudo apt-get install debootstrap")


def _environment() -> dict[str, str]:
    """A plain one, with the host's proxies."""
    proxies = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    return {
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        # pip trusts its own certificates alone unless it is told.
        "PIP_CERT": "/etc/ssl/certs/ca-certificates.crt",
        **proxies,
    }
