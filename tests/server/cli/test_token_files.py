"""A token's file is whole or not there, and never somebody else's."""

from pathlib import Path

import click
import pytest

from server.cli.token_files import token_file_writer


def test_file_that_comes_to_be_there_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "token"
    with token_file_writer(file, force=False) as write:
        file.write_text("theirs")
        with pytest.raises(click.ClickException, match="is lost: revoke it"):
            write("fh_mine")
    assert file.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [file]


def test_directory_that_is_not_there_fails_before_a_token_is_made(tmp_path: Path) -> None:
    made = []
    with (
        pytest.raises(click.ClickException, match=r"cannot write .*none/token: No such file"),
        token_file_writer(tmp_path / "none" / "token", force=False),
    ):
        made.append("a token")
    assert made == []


def test_dangling_link_is_a_file_that_exists(tmp_path: Path) -> None:
    (tmp_path / "token").symlink_to(tmp_path / "elsewhere")
    with (
        pytest.raises(click.UsageError, match="--force replaces it"),
        token_file_writer(tmp_path / "token", force=False),
    ):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_force_goes_with_a_file() -> None:
    with (
        pytest.raises(click.UsageError, match="--force goes with --token-file"),
        token_file_writer(None, force=True),
    ):
        pass
