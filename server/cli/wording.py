"""Says what a server refuses in the words of the command that was typed, not of its request."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from farhand.errors import WrongPart

_OTHER_NAMES = {
    "expires_at": "expires_in",
    "pause_until": "duration",
    "token_id": "by",
    "pool_ids": "pools",
    "token_name": "by",
    "created_at_from": "since",
    "created_at_to": "until",
}
"""Fields that a command has a parameter of another name for."""


def in_words_of_the_command(wrong: Iterable["WrongPart"]) -> str:
    """What was wrong, each time with the option or argument that it was about."""
    context = click.get_current_context(silent=True)
    parameters = [] if context is None else context.command.params
    return "; ".join(_sentence(part, parameters) for part in wrong)


def _sentence(part: "WrongPart", parameters: list[click.Parameter]) -> str:
    place = ".".join(part.loc)
    field = part.loc[1] if len(part.loc) > 1 else ""
    for parameter in parameters:
        if field and _is_about(field, parameter):
            place = _typed_name(parameter)
    said = re.sub(r"^(Input|Value|String|List) should ", "must ", part.message)
    return f"{place} {said}" if said.startswith("must ") else f"{place}: {said}"


def _is_about(field: str, parameter: click.Parameter) -> bool:
    name = parameter.name or ""
    return name == _OTHER_NAMES.get(field, field) or name.endswith(f"_{field}")


def _typed_name(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option):
        return parameter.opts[0]
    return parameter.make_metavar(click.Context(click.Command(None))).strip("[]")
