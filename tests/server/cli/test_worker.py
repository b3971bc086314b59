"""``farhand worker``, which nobody starts but ``farhand serve --workers``."""

from tests.commandline import run, run_process


def test_it_is_no_command_for_people() -> None:
    assert "worker" not in run("--help").stdout.replace("--workers", "")


def test_whoever_starts_it_is_told_what_it_is() -> None:
    ended = run_process("worker")
    assert ended.returncode == 2
    assert "only farhand serve --workers starts this command" in ended.stderr
    assert "Traceback" not in ended.stderr
