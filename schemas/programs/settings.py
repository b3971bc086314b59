"""How both programs read their settings: environment, then a TOML file, then defaults."""

import os
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, TomlConfigSettingsSource

from schemas.http.problems import entries_of

Settings = TypeVar("Settings", bound="FileAndEnvironment")


HomePath = Annotated[Path, AfterValidator(Path.expanduser)]
"""A path that may begin with ``~``."""


class SettingsError(Exception):
    """Settings that cannot be used; the message has one line for each mistake."""


class FileAndEnvironment(BaseSettings):
    """Settings that a program reads once, at its start; a key that is not known is an error."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Command line first, then the environment, then the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def read_settings(
    model: type[Settings],
    file: Path | None,
    command_line: dict[str, Any],
    also_known: Iterable[str] = (),
    other_prefix: str | None = None,
) -> Settings:
    """Read and check all settings.

    ``command_line`` holds what was given there (None is not given); ``also_known`` are
    environment variables with the same prefix that belong to something else, as do all that begin
    with ``other_prefix``.  Raises
    :class:`SettingsError`.
    """
    prefix = str(model.model_config["env_prefix"])
    _refuse_unknown_variables(model, prefix, also_known, other_prefix)
    given = {name: value for name, value in command_line.items() if value is not None}
    configured: type[Settings] = type(
        model.__name__, (model,), {"model_config": {"toml_file": file}}
    )
    if file is not None:
        _refuse_bad_file(file)
    try:
        return configured(**given)
    except ValidationError as error:
        raise SettingsError("\n".join(_lines(error, model, prefix, given, file))) from None


def _refuse_unknown_variables(
    model: type[BaseModel], prefix: str, known: Iterable[str], other_prefix: str | None
) -> None:
    names = {prefix + name.upper() for name in model.model_fields} | set(known)
    unknown = sorted(
        name
        for name in os.environ
        if name.startswith(prefix)
        and name not in names
        and not (other_prefix and name.startswith(other_prefix))
    )
    if unknown:
        raise SettingsError(
            f"the environment has unknown settings: {', '.join(unknown)}; "
            f"known are {', '.join(sorted(names))}"
        )


def _refuse_bad_file(file: Path) -> None:
    try:
        with file.open("rb") as stream:
            tomllib.load(stream)
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file} is not valid TOML: {error}") from None


def _lines(
    error: ValidationError,
    model: type[BaseModel],
    prefix: str,
    given: dict[str, Any],
    file: Path | None,
) -> Iterable[str]:
    for entry in entries_of(error.errors()):
        name = entry.loc[0] if entry.loc else ""
        if not name:
            yield entry.msg
            continue
        if entry.type == "missing":
            option, variable = f"--{name.replace('_', '-')}", prefix + name.upper()
            yield f"{name} is missing: give {option}, {variable}, or {name} in a --config file"
            continue
        if name in given:
            source = f"--{name.replace('_', '-')}"
        elif prefix + name.upper() in os.environ:
            source = prefix + name.upper()
        else:
            source = f"{file}: {'.'.join(entry.loc)}"
        if entry.type == "extra_forbidden":
            yield f"{source}: unknown setting; known are {', '.join(sorted(model.model_fields))}"
        else:
            yield f"{source}: {entry.msg}"
