"""How settings are read: command line, environment, file, defaults; what is said of mistakes."""

from pathlib import Path

import pytest
from pydantic import Field
from pydantic_settings import SettingsConfigDict

from schemas.programs.settings import FileAndEnvironment, SettingsError, read_settings


class Example(FileAndEnvironment):
    """Settings of a program that does not exist."""

    model_config = SettingsConfigDict(env_prefix="EXAMPLE_", extra="forbid", frozen=True)

    port: int = Field(1, ge=0, le=10)
    name: str = "default"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "example.toml"


def complaint(file: Path | None = None, **command_line: object) -> str:
    with pytest.raises(SettingsError) as caught:
        read_settings(Example, file, command_line)
    return str(caught.value)


def test_nearest_source_wins(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_settings(Example, None, {}).model_dump() == {"port": 1, "name": "default"}
    file.write_text("port = 2\nname = 'file'")
    assert read_settings(Example, file, {}).port == 2
    monkeypatch.setenv("EXAMPLE_PORT", "3")
    settings = read_settings(Example, file, {"name": None})
    assert (settings.port, settings.name) == (3, "file")
    assert read_settings(Example, file, {"port": 4}).port == 4


def test_one_reading_leaves_nothing_for_the_next(file: Path) -> None:
    file.write_text("port = 2")
    assert read_settings(Example, file, {}).port == 2
    assert read_settings(Example, None, {}).port == 1


def test_unknown_variable_is_named_with_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE_PROT", "3")
    said = complaint()
    assert "EXAMPLE_PROT" in said
    assert "EXAMPLE_NAME, EXAMPLE_PORT" in said
    assert "\n" not in said


def test_variables_of_others_are_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE_URL", "x")
    monkeypatch.setenv("EXAMPLE_OTHER_PORT", "x")
    assert read_settings(Example, None, {}, ["EXAMPLE_URL"], "EXAMPLE_OTHER_").port == 1
    assert "EXAMPLE_URL" in complaint()


def test_mistake_names_its_source(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("port = 'x'")
    assert complaint(file).startswith(f"{file}: port: ")
    assert complaint(file, port="y").startswith("--port: ")
    monkeypatch.setenv("EXAMPLE_PORT", "11")
    assert complaint(file).startswith("EXAMPLE_PORT: ")


def test_every_mistake_has_a_line(file: Path) -> None:
    file.write_text("port = 'x'\nname = 7\ncolour = 'red'")
    lines = complaint(file).splitlines()
    assert len(lines) == 3
    assert any("colour: unknown setting; known are name, port" in line for line in lines)


@pytest.mark.parametrize("content", [b"port = ", b"= 1", b"port = 1\nport = 2", b"\xff"])
def test_file_that_is_no_toml_is_named(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    said = complaint(file)
    assert said.startswith(f"{file} is not valid TOML: ")
    assert "\n" not in said


def test_file_that_cannot_be_read_is_named(file: Path, tmp_path: Path) -> None:
    assert complaint(file) == f"{file}: No such file or directory"
    assert complaint(tmp_path) == f"{tmp_path}: Is a directory"
