"""Modifier keys that are held while something else happens: ``["ctrl", "shift"]``.

Their names are those of `schemas.inputs.key_combinations`.
"""

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from schemas.inputs.key_combinations import MAX_NAME_LENGTH, Key, find_modifier
from schemas.values.validation_errors import Wrong, errors_of

MAX_MODIFIERS = 10


def modifier_keys(names: tuple[str, ...] | None) -> tuple[Key, ...]:
    """The keys of these names, which are known to be modifiers' names."""
    return tuple(key for name in names or () if (key := find_modifier(name)) is not None)


def _is_modifier(name: str) -> str:
    if find_modifier(name) is None:
        raise PydanticCustomError(
            "not_a_modifier", "must name a modifier: ctrl, shift, alt, super or altgr"
        )
    return name


def _each_once(names: tuple[str, ...]) -> tuple[str, ...]:
    keys = modifier_keys(names)
    wrong = [
        Wrong(
            (place,),
            PydanticCustomError(
                "modifier_repeated",
                "names the modifier {modifier} again: name each once",
                {"modifier": key.name},
            ),
            names[place],
        )
        for place, key in enumerate(keys)
        if key in keys[:place]
    ]
    if wrong:
        raise errors_of(wrong)
    return names


ModifierName = Annotated[
    str, Field(min_length=1, max_length=MAX_NAME_LENGTH), AfterValidator(_is_modifier)
]

Modifiers = Annotated[
    tuple[ModifierName, ...], Field(max_length=MAX_MODIFIERS), AfterValidator(_each_once)
]
"""Names of modifiers, each key once."""
