"""The file of keys: made once, for its owner alone, and read with clear words for what is wrong."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from server.secrets.key_file import KeyFileError, vault_of

KEY = "A" * 43 + "="
OTHER = "B" * 43 + "="


def written(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_file_is_made_for_its_owner_alone_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "secret-key"
    first = vault_of(path, may_make=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    sealed = first.seal(run := uuid4(), {"pin": "4711"})
    assert vault_of(path, may_make=True).opened(run, sealed) == {"pin": "4711"}
    assert [each.name for each in tmp_path.iterdir()] == ["secret-key"]


def test_several_that_make_it_at_once_have_one_key(tmp_path: Path) -> None:
    path = tmp_path / "secret-key"
    with ThreadPoolExecutor(8) as pool:
        vaults = list(pool.map(lambda _: vault_of(path, may_make=True), range(16)))
    assert len({each.key_id for each in vaults}) == 1


def test_first_of_several_keys_encrypts(tmp_path: Path) -> None:
    path = written(tmp_path / "keys", f"# May\n{OTHER}\n\n{KEY}\n")
    vault = vault_of(path, may_make=False)
    assert len(vault.key_ids) == 2
    assert vault.key_id == vault_of(written(path, OTHER), may_make=False).key_id


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        ("", 0o600, "has 0 keys, and has to have 1 to 32"),
        ("# none\n", 0o600, "has 0 keys"),
        (f"{KEY}\n" * 33, 0o600, "has 33 keys"),
        (f"{KEY}\nhunter2\n", 0o600, "key 2 is none. A key is 32 random bytes in Base64"),
        (KEY, 0o640, "can be read by others: chmod 600"),
    ],
)
def test_file_that_cannot_be_used_says_why_and_nothing_of_what_is_in_it(
    text: str, mode: int, why: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "keys", text, mode)
    with pytest.raises(KeyFileError, match=why) as refused:
        vault_of(path, may_make=True)
    assert KEY not in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match=r"No such file or directory\. A key is 32 random bytes"):
        vault_of(tmp_path / "keys", may_make=False)
    with pytest.raises(KeyFileError, match="where the secrets' key is: No such file"):
        vault_of(tmp_path / "nowhere" / "keys", may_make=True)
