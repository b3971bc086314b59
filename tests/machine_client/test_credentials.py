"""What a machine client is known by, and that no kill costs it its token."""

import hashlib
import stat
from pathlib import Path

import pytest

from machine_client.credentials import Credentials, joining
from schemas.link.messages import HOST_HEADER, JOIN_HEADER


def test_token_is_all_that_a_machine_needs_that_has_joined() -> None:
    assert Credentials("fh_t").headers == {"Authorization": "Bearer fh_t"}


def test_code_is_shown_with_the_hash_of_the_token_and_never_the_token(tmp_path: Path) -> None:
    made = joining(tmp_path / "state" / "token", "fhj_c")
    assert made.headers["Authorization"] == "Bearer fhj_c"
    assert made.headers[JOIN_HEADER] == hashlib.sha256(made.token.encode()).hexdigest()
    assert made.headers[HOST_HEADER]
    assert made.token not in "".join(made.headers.values())


def test_token_is_kept_before_it_is_shown_and_is_the_same_after_a_kill(tmp_path: Path) -> None:
    file = tmp_path / "token"
    first = joining(file, "fhj_c")
    kept = tmp_path / "token.joining"
    assert kept.read_text().strip() == first.token
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert not file.exists()
    assert joining(file, "fhj_c").token == first.token


def test_token_that_is_known_takes_its_place(tmp_path: Path) -> None:
    file = tmp_path / "token"
    made = joining(file, "fhj_c")
    made.joined()
    assert file.read_text().strip() == made.token
    assert [*tmp_path.iterdir()] == [file]
    assert made.headers == {"Authorization": f"Bearer {made.token}"}
    made.joined()


def test_kill_before_the_token_was_written_is_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "token.joining").touch()
    assert joining(tmp_path / "token", "fhj_c").token.startswith("fh_")


def test_directory_that_cannot_be_written_is_an_error_and_nothing_is_shown(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        joining(tmp_path / "file" / "token", "fhj_c")


def known(file: Path, token: str) -> Credentials:
    """What a machine is known by that has joined."""
    file.write_text(f"{token}\n")
    return Credentials(token, file=file)


def test_new_token_lies_beside_the_old_one_until_the_server_knows_it(tmp_path: Path) -> None:
    file = tmp_path / "token"
    old = known(file, "fh_old")
    new = old.renewed("fhj_c")
    assert new.token != old.token
    assert file.read_text().strip() == "fh_old"
    assert new.headers["Authorization"] == "Bearer fhj_c"
    beside = old.beside()
    assert beside is not None
    assert (beside.token, beside.code) == (new.token, None)
    beside.joined()
    assert file.read_text().strip() == new.token
    assert old.beside() is None


def test_token_that_was_made_in_vain_is_not_used_again(tmp_path: Path) -> None:
    old = known(tmp_path / "token", "fh_old")
    assert old.renewed("fhj_1").token != old.renewed("fhj_2").token


def test_token_without_a_file_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="without a file"):
        Credentials("fh_t").renewed("fhj_c")
    assert Credentials("fh_t").beside() is None


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    shown = repr(joining(tmp_path / "token", "fhj_c"))
    assert "fh_" not in shown
    assert "fhj_" not in shown
