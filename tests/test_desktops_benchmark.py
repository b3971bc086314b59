"""The benchmark of desktops runs, at a size that says nothing: so that it cannot rot."""

import subprocess
import sys

import pytest


@pytest.mark.timeout(300)
def test_measures_every_input_on_every_desktop_and_prints_a_table() -> None:
    ended = subprocess.run(
        (sys.executable, "-m", "benchmarks.desktops", "--quick"),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    rows = {line[:26].strip(): line[26:].split() for line in ended.stdout.splitlines()}
    for name in ("move", "text of 20", "short drag, with a key"):
        assert len(rows[name]) == 9
        assert all(float(figure) > 0 for figure in rows[name])
    assert float(rows["the floor: a GET"][0]) > 0
    assert "load" in ended.stdout.splitlines()[0]
    assert ended.stdout.count("at most 1.5") == 8
