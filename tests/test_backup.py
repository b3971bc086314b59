"""What config/backup saved is all there again, and what fails leaves nothing half done."""

import subprocess
from pathlib import Path

import pytest

from tests.processes import ServerProcess
from tests.trajectories import sent

BACKUP = Path(__file__).parent.parent / "config" / "backup"


def backup(*arguments: object) -> tuple[int, str]:
    """The exit code, and what was said."""
    ended = subprocess.run(
        [BACKUP, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60
    )
    return ended.returncode, ended.stderr


def test_server_goes_on_elsewhere_with_all_that_it_had(tmp_path: Path) -> None:
    server, saved = ServerProcess(tmp_path / "one"), tmp_path / "farhand.tar.gz"
    with server.run() as program:
        api = server.api()
        made = api.call("POST", "/v1/trajectories", sent()).json["id"]
        api.add_machine("desk")
        code, said = backup("save", server.directory / "data", saved)
        assert (code, "stop it first" in said, saved.exists()) == (1, True, False)
        api.close()
        assert program.terminate() == 0
    assert backup("save", server.directory / "data", saved) == (0, "")
    assert saved.stat().st_mode & 0o077 == 0

    again = ServerProcess(tmp_path / "two")
    again.directory.mkdir()
    assert backup("restore", saved, again.directory / "data") == (0, "")
    with again.run():
        api = again.api()
        assert api.call("GET", f"/v1/trajectories/{made}").status == 200
        assert api.machine("desk")["state"] == "offline"
        actions = [each["action"] for each in api.call("GET", "/v1/audit").json["items"]]
        assert {"trajectory.created", "machine.added"} <= set(actions)
        api.close()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """What looks like the directory of a server that is stopped."""
    directory = tmp_path / "data"
    (directory / "mongodb").mkdir(parents=True)
    (directory / "mongodb" / "lock").touch()
    return directory


def test_nothing_is_overwritten(tmp_path: Path, data: Path) -> None:
    saved = tmp_path / "saved"
    assert backup("save", data, saved) == (0, "")
    before = saved.read_bytes()
    code, said = backup("save", data, saved)
    assert (code, "choose another name" in said) == (1, True)
    assert saved.read_bytes() == before
    (data / "mine").touch()
    code, said = backup("restore", saved, data)
    assert (code, "is not empty" in said) == (1, True)
    assert (data / "mine").exists()


@pytest.mark.parametrize("wrong", [b"", b"nonsense", "half"])
def test_what_is_no_whole_backup_restores_nothing(
    tmp_path: Path, data: Path, wrong: bytes | str
) -> None:
    (data / "mongodb" / "long").write_bytes(bytes(range(256)) * 10_000)
    saved = tmp_path / "saved"
    assert backup("save", data, saved)[0] == 0
    whole = saved.read_bytes()
    saved.write_bytes(wrong if isinstance(wrong, bytes) else whole[: len(whole) // 2])
    code, said = backup("restore", saved, tmp_path / "new")
    assert (code, "nothing was restored" in said) == (1, True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["data", "saved"]


def test_what_cannot_be_saved_leaves_nothing(tmp_path: Path, data: Path) -> None:
    assert backup("save", data, tmp_path / "missing" / "saved")[0] != 0
    code, said = backup("save", tmp_path, tmp_path / "saved")
    assert (code, "is no data directory" in said) == (1, True)
    assert backup("save", data)[0] == 2
    assert [each.name for each in tmp_path.iterdir()] == ["data"]
