"""The command ``farhand`` as a whole."""

import subprocess
import sys

import pytest

from tests.commandline import run, run_process

COMMANDS = [
    ("serve",),
    ("demo",),
    ("doctor",),
    ("organization", "add"),
    ("token", "create"),
    ("token", "list"),
    ("token", "revoke"),
    ("session", "list"),
    ("session", "end"),
    ("machine", "add"),
    ("machine", "list"),
    ("machine", "remove"),
    ("trajectory", "import"),
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_command_has_help(command: tuple[str, ...], option: str) -> None:
    result = run(*command, option)
    assert result.exit_code == 0
    assert f"Usage: farhand {' '.join(command)}" in result.stdout


@pytest.mark.parametrize("command", [each for each in COMMANDS if len(each) == 2], ids=" ".join)
def test_administrative_commands_share_their_options(command: tuple[str, ...]) -> None:
    text = run(*command, "--help").stdout
    for option in ("--url", "--token", "--data-dir", "--json"):
        assert option in text


def test_help_waits_for_no_import_of_the_client_library() -> None:
    script = (
        "import sys\nfrom tests.commandline import run\n"
        f"for command in {COMMANDS!r}: assert run(*command, '--help').exit_code == 0\n"
        "print([name for name in ('farhand', 'httpx') if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert said.stdout == b"[]\n"


def test_unknown_command_is_used_wrongly() -> None:
    ended = run_process("wobble")
    assert ended.returncode == 2
    assert "wobble" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_version_is_printed() -> None:
    ended = run_process("--version")
    assert ended.returncode == 0
    assert ended.stdout.startswith("farhand, version ")
