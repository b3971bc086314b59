"""Programs that are forked are as those that are started."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.forked_programs import ForkedProgram, fork
from tests.processes import SCRIPTS, environment, until


def begun(log: Path, *command: str, **variables: str) -> ForkedProgram:
    with log.open("ab") as output:
        command = (str(SCRIPTS / command[0]), *command[1:])
        return fork(command, environment(**variables), output.fileno())


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (("farhand", "--version"), 0, "farhand, version"),
        (("farhand-machine", "--version"), 0, "farhand-machine, version"),
        (("farhand", "serve", "--port", "none"), 2, "Error: "),
    ],
)
def test_forked_program_says_and_ends_as_one_that_was_started(
    tmp_path: Path, command: tuple[str, ...], code: int, said: str
) -> None:
    assert begun(tmp_path / "log", *command).wait(30) == code
    started = subprocess.run(
        [SCRIPTS / command[0], *command[1:]],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(),
        check=False,
    )
    assert started.returncode == code
    assert said in started.stdout.decode()
    assert (tmp_path / "log").read_bytes() == started.stdout


def test_forked_program_has_its_own_session_environment_and_files(tmp_path: Path) -> None:
    with (tmp_path / "ours").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)
        program = begun(
            tmp_path / "log", "farhand", "serve", "--port", "0", FARHAND_DATA_DIR=str(tmp_path)
        )
        try:
            until((tmp_path / "address").exists, "it serves")
            assert os.getsid(program.pid) == program.pid
            has = Path(f"/proc/{program.pid}")
            assert str(tmp_path / "ours") not in {
                str(each.readlink()) for each in (has / "fd").iterdir()
            }
            assert program.poll() is None
            with pytest.raises(subprocess.TimeoutExpired):
                program.wait(0.01)
        finally:
            program.kill()
    assert program.wait(30) == -signal.SIGKILL
    assert program.poll() == -signal.SIGKILL


def test_forked_program_ends_as_it_is_asked_to(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = begun(log, "farhand", "serve", "--port", "0", FARHAND_DATA_DIR=str(tmp_path))
    until((tmp_path / "address").exists, "it serves")
    program.terminate()
    assert program.wait(30) == 0
    assert not Path(f"/proc/{program.pid}").exists()
