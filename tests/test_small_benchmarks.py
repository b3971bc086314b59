"""Benchmarks run, at sizes that say nothing: so that they cannot rot."""

import subprocess
import sys

import pytest


def rows_of(name: str, *options: str, width: int) -> dict[str, list[str]]:
    """What a benchmark prints behind each row's name, of which later ones of a name count."""
    ended = subprocess.run(
        (sys.executable, "-m", f"benchmarks.{name}", *options),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "load" in ended.stdout
    return {line[:width].strip(): line[width:].split() for line in ended.stdout.splitlines()}


@pytest.mark.timeout(300)
def test_lists_of_machines_are_measured() -> None:
    rows = rows_of("machine_lists", "--sizes", "40", "--times", "1", width=60)
    for title in ("by name", "of a pool, by name", "two words, by name"):
        assert float(rows[f"{title}, largest / smallest"][0]) > 0
    assert rows["by state, with counts, ms"][1:] == ["at", "most", "50"]
    assert float(rows["the first list of all, ms"][0]) > 0


@pytest.mark.timeout(300)
def test_recording_is_measured() -> None:
    rows = rows_of("recordings", "--rounds", "1", "--times", "2", "--apart", "2", width=56)
    assert rows["machines at once"] == ["1"]
    assert float(rows["one after another, recorded, ms"][0]) > 0


@pytest.mark.timeout(300)
def test_joining_is_measured_with_clients_that_are_killed() -> None:
    rows = rows_of("joining", "--machines", "1", width=44)
    assert rows["machines online, each killed once"] == ["1", "of", "1"]
    assert rows["tokens of theirs"] == ["1", "of", "1"]
    assert float(rows["seconds, from the code to all online"][0]) > 0


@pytest.mark.timeout(300)
def test_client_library_is_measured() -> None:
    rows = rows_of("client", "--rounds", "1", "--times", "2", width=44)
    assert float(rows["the library: a click, its answer checked"][0]) > 0
    assert rows["import farhand alone"][1:] == ["at", "most", "150"]
