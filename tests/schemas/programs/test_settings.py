"""What settings come from, which source counts, and what is said of mistakes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import Field

from schemas.programs.settings import (
    ProgramSettings,
    SettingsError,
    SettingsFile,
    SettingsSources,
    check_settings,
)

FILE = Path("/etc/example.toml")


class Example(ProgramSettings):
    """Settings of a program that does not exist."""

    environment_prefix: ClassVar[str] = "EXAMPLE_"

    port: int = Field(1, ge=0, le=10)
    name: str = "default"


def sources(
    file: str = "", environment: Mapping[str, str] | None = None, **command_line: Any
) -> SettingsSources:
    content = SettingsFile.parsed(FILE, file.encode()) if file else None
    return SettingsSources(environment or {}, command_line, content)


def complaint(
    file: str = "", environment: Mapping[str, str] | None = None, **command_line: Any
) -> str:
    with pytest.raises(SettingsError) as caught:
        check_settings(Example, sources(file, environment, **command_line))
    return str(caught.value)


def test_nearest_source_wins() -> None:
    assert check_settings(Example, sources()).model_dump() == {"port": 1, "name": "default"}
    file = "port = 2\nname = 'file'"
    assert check_settings(Example, sources(file)).port == 2
    environment = {"EXAMPLE_PORT": "3"}
    settings = check_settings(Example, sources(file, environment, name=None))
    assert (settings.port, settings.name) == (3, "file")
    assert check_settings(Example, sources(file, environment, port=4)).port == 4


def test_case_of_names_does_not_matter() -> None:
    assert check_settings(Example, sources("Port = 2")).port == 2
    assert check_settings(Example, sources(environment={"example_port": "3"})).port == 3


def test_unknown_variable_is_named_with_the_known_ones() -> None:
    said = complaint(environment={"EXAMPLE_PROT": "3"})
    assert "EXAMPLE_PROT" in said
    assert "EXAMPLE_NAME, EXAMPLE_PORT" in said
    assert "\n" not in said


def test_variables_of_others_are_no_mistake() -> None:
    environment = {"EXAMPLE_URL": "x", "EXAMPLE_OTHER_PORT": "x", "PATH": "x"}
    given = SettingsSources(environment, {}, None, ["EXAMPLE_URL"], "EXAMPLE_OTHER_")
    assert check_settings(Example, given).port == 1
    assert "EXAMPLE_URL" in complaint(environment=environment)


def test_mistake_names_its_source() -> None:
    file = "port = 'x'"
    assert complaint(file).startswith(f"{FILE}: port: ")
    assert complaint(file, port="y").startswith("--port: ")
    assert complaint(file, {"EXAMPLE_PORT": "11"}).startswith("EXAMPLE_PORT: ")


def test_every_mistake_has_a_line() -> None:
    lines = complaint("port = 'x'\nname = 7\ncolour = 'red'").splitlines()
    assert len(lines) == 3
    assert any("colour: unknown setting; known are name, port" in line for line in lines)


def test_part_of_a_file_is_named() -> None:
    part = SettingsFile(FILE, {"port": "x"}, "second: ")
    with pytest.raises(SettingsError, match=f"^{FILE}: second: port: "):
        check_settings(Example, SettingsSources({}, {}, part))


@pytest.mark.parametrize("content", [b"port = ", b"= 1", b"port = 1\nport = 2", b"\xff"])
def test_file_that_is_no_toml_is_named(content: bytes) -> None:
    with pytest.raises(SettingsError) as caught:
        SettingsFile.parsed(FILE, content)
    said = str(caught.value)
    assert said.startswith(f"{FILE} is not valid TOML: ")
    assert "\n" not in said
