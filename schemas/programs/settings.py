"""What settings a program can have, and how mistakes in them are worded.

The command line counts before the environment, the environment before a TOML file, and the file
before the defaults.  Each program reads its own environment and file.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from pydantic import ConfigDict, ValidationError

from schemas.values.strict import StrictModel
from schemas.values.validation_errors import entries_of

Settings = TypeVar("Settings", bound="ProgramSettings")


class SettingsError(Exception):
    """Settings that cannot be used; the message has one line for each mistake."""


class ProgramSettings(StrictModel):
    """Settings that a program reads once, at its start; a key that is not known is an error.

    A setting of the name ``port`` is the variable ``FARHAND_PORT`` of the environment, where
    ``environment_prefix`` is ``FARHAND_``.
    """

    model_config = ConfigDict(validate_default=True)

    environment_prefix: ClassVar[str]


@dataclass(frozen=True)
class SettingsFile:
    """What a TOML file has, or a part of it; ``place`` says which part."""

    path: Path
    content: Mapping[str, Any]
    place: str = ""

    @classmethod
    def parsed(cls, path: Path, toml: bytes) -> Self:
        """All that a file says.  Raises SettingsError."""
        try:
            return cls(path, tomllib.loads(toml.decode()))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SettingsError(f"{path} is not valid TOML: {error}") from None


@dataclass(frozen=True)
class SettingsSources:
    """Where settings come from.

    ``command_line`` holds what was given there (None is not given).  ``also_known`` are
    environment variables with the same prefix that belong to something else, as do all that begin
    with ``other_prefix``.
    """

    environment: Mapping[str, str]
    command_line: Mapping[str, Any]
    file: SettingsFile | None = None
    also_known: Iterable[str] = ()
    other_prefix: str | None = None


def check_settings(model: type[Settings], sources: SettingsSources) -> Settings:
    """The settings that these sources give.  Raises SettingsError."""
    _refuse_unknown_variables(model, sources)
    values = {
        **_from_file(model, sources.file),
        **_from_environment(model, sources.environment),
        **_from_command_line(sources),
    }
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise SettingsError("\n".join(_lines(error, model, sources))) from None


def _refuse_unknown_variables(model: type[ProgramSettings], sources: SettingsSources) -> None:
    prefix, other = model.environment_prefix, sources.other_prefix
    names = {prefix + name.upper() for name in model.model_fields} | set(sources.also_known)
    unknown = sorted(
        name
        for name in sources.environment
        if name.startswith(prefix) and name not in names and not (other and name.startswith(other))
    )
    if unknown:
        raise SettingsError(
            f"the environment has unknown settings: {', '.join(unknown)}; "
            f"known are {', '.join(sorted(names))}"
        )


def _from_file(model: type[ProgramSettings], file: SettingsFile | None) -> dict[str, Any]:
    if file is None:
        return {}
    known, content = model.model_fields, file.content
    return {name.lower() if name.lower() in known else name: content[name] for name in content}


def _from_environment(
    model: type[ProgramSettings], environment: Mapping[str, str]
) -> dict[str, str]:
    values = {name.lower(): value for name, value in environment.items()}
    names = {name: f"{model.environment_prefix}{name}".lower() for name in model.model_fields}
    return {name: values[variable] for name, variable in names.items() if variable in values}


def _from_command_line(sources: SettingsSources) -> dict[str, Any]:
    return {name: value for name, value in sources.command_line.items() if value is not None}


def _part_of(file: SettingsFile | None) -> str:
    """Which part of a file a sentence is about; nothing where there are no parts."""
    return "" if file is None or not file.place else f"{file.path}: {file.place}"


def _place_of(file: SettingsFile | None) -> str:
    return "" if file is None else f"{file.path}: {file.place}"


def _lines(
    error: ValidationError, model: type[ProgramSettings], sources: SettingsSources
) -> Iterable[str]:
    prefix = model.environment_prefix
    for entry in entries_of(error.errors()):
        name = entry.loc[0] if entry.loc else ""
        if not name:
            yield f"{_part_of(sources.file)}{entry.msg}"
            continue
        option, variable = f"--{name.replace('_', '-')}", prefix + name.upper()
        if entry.type == "missing":
            part = _part_of(sources.file)
            where = f"give {option}, {variable}, or {name} in a --config file"
            yield f"{part}{name} is missing: {where}"
            continue
        if name in _from_command_line(sources):
            source = option
        elif variable in sources.environment:
            source = variable
        else:
            source = f"{_place_of(sources.file)}{'.'.join(entry.loc)}"
        if entry.type == "extra_forbidden":
            yield f"{source}: unknown setting; known are {', '.join(sorted(model.model_fields))}"
        else:
            yield f"{source}: {entry.msg}"
