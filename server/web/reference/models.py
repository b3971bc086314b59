"""What JSON Schemas say, in words and by example."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

Schema = Mapping[str, Any]

EXAMPLES = {"string": "text", "boolean": True, "object": {}, "null": None}
"""The smallest value of each type; those of numbers depend on their bounds."""
AN_ID = "00000000-0000-4000-8000-000000000000"

SIZES = {
    "string": ("minLength", "maxLength", " characters"),
    "array": ("minItems", "maxItems", " entries"),
}
"""How the schema of a type bounds its values, and what is counted; of all others it is numbers."""


class Word(NamedTuple):
    """A part of what a type is called; a model's name leads to where the model is told."""

    text: str
    is_model: bool = False


Words = tuple[Word, ...]


@dataclass(frozen=True)
class Field:
    """One value with a name: a parameter, or a member of an object."""

    name: str
    type: Words
    description: str
    is_required: bool


@dataclass(frozen=True)
class Models:
    """The named schemas of a document, to which all others may refer."""

    schemas: Mapping[str, Schema]

    def referred_to(self, part: Any) -> set[str]:
        """The objects to which any schema in a part of the document refers."""
        return {name for name in _names_in(part) if "properties" in self.schemas[name]}

    def fields_of(self, schema: Schema) -> tuple[Field, ...]:
        """The members of an object."""
        whole = self._resolved(schema)
        required = whole.get("required", ())
        return tuple(
            Field(name, self.in_words(each), each.get("description", ""), name in required)
            for name, each in whole.get("properties", {}).items()
        )

    def in_words(self, schema: Schema) -> Words:
        """What a value of this schema may be."""
        default = schema.get("default")
        ending = () if default is None else (Word(f", default {json.dumps(default)}"),)
        return (*self._type_of(schema), *ending)

    def example(self, schema: Schema) -> Any:
        """The smallest value that a schema could mean, with ids and texts to be filled in."""
        whole = self._resolved(schema)
        if whole.get("default") is not None:
            return whole["default"]
        if "enum" in whole or "const" in whole:
            return whole["enum"][0] if "enum" in whole else whole["const"]
        if kinds := _kinds_of(whole):
            return self.example(kinds[0])
        if properties := whole.get("properties"):
            return {name: self.example(properties[name]) for name in _needed(whole)}
        if whole.get("type") == "array":
            return [self.example(whole["items"])] if whole.get("minItems") else []
        if whole.get("format") == "uuid":
            return AN_ID
        return EXAMPLES.get(whole.get("type", ""), max(1, whole.get("minimum", 1)))

    def _resolved(self, schema: Schema) -> Schema:
        return self.schemas[_named(schema)] if "$ref" in schema else schema

    def _type_of(self, schema: Schema) -> Words:
        whole = self._resolved(schema)
        if "$ref" in schema and "properties" in whole:
            return (Word(_named(schema), is_model=True),)
        if kinds := _kinds_of(whole):
            each = [(Word(" or "), *self.in_words(one)) for one in kinds]
            return tuple(chain.from_iterable(each))[1:]
        if "enum" in whole:
            return (Word(", ".join(map(json.dumps, whole["enum"]))),)
        if "const" in whole:
            return (Word(json.dumps(whole["const"])),)
        if whole.get("type") == "array":
            return (Word(f"array{_bounds(whole)} of "), *self.in_words(whole.get("items", {})))
        if (values := _values_of(whole)) is not None:
            return (Word("object of names to "), *self.in_words(values))
        return (Word(f"{whole.get('format', whole.get('type', 'any value'))}{_bounds(whole)}"),)


def _kinds_of(schema: Schema) -> list[Schema]:
    """What a value may be one of; none where it is of one kind."""
    return schema.get("anyOf") or schema.get("oneOf") or []


def _needed(schema: Schema) -> list[str]:
    """The members that an object must have; where others do as well, the first that do."""
    either = (each["anyOf"][0] for each in schema.get("allOf", ()) if "anyOf" in each)
    return [*schema.get("required", ()), *(name for each in either for name in each["required"])]


def _values_of(schema: Schema) -> Schema | None:
    """What each member of an object may be whose names are not known; None where that is any."""
    patterns = schema.get("patternProperties", {}).values()
    found = next(iter(patterns), schema.get("additionalProperties"))
    return found if isinstance(found, Mapping) and found else None


def _bounds(schema: Schema) -> str:
    """How small and how large a value may be, behind a space; nothing where it may be any."""
    smallest, largest, unit = SIZES.get(schema.get("type", ""), ("minimum", "maximum", ""))
    least, most, above = map(schema.get, (smallest, largest, "exclusiveMinimum"))
    if above is not None:
        return f" above {above}" + ("" if most is None else f", up to {most}")
    if most is None:
        return "" if least is None else f" from {least}{unit}"
    return f" up to {most}{unit}" if least is None else f" {least} to {most}{unit}"


def _named(schema: Schema) -> str:
    """The name of the model to which a schema refers."""
    return str(schema["$ref"]).rpartition("/")[2]


def _names_in(part: Any) -> Iterator[str]:
    """The name of each model to which a part of the document refers, wherever in it."""
    if isinstance(part, Mapping):
        if "$ref" in part:
            yield _named(part)
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from _names_in(each)
