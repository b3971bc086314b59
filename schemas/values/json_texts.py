"""JSON values that are kept and handed back as they came, as text.

Whatever a client puts into a free-form object comes back: any key, any order, integers of any
length.  So it is checked once, encoded once, and from then on only copied.
"""

import json
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, FailFast, Field, GetCoreSchemaHandler
from pydantic.annotated_handlers import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from schemas.values.json_encoding import encode_long_json
from schemas.values.scalars import Int32


@dataclass(frozen=True)
class JsonText:
    """A JSON value as compact UTF-8 text.

    As the type of a pydantic field it takes and checks the value itself; its text is there at
    once, and ``value`` decodes it again.
    """

    text: bytes

    accepts: ClassVar[Any] = Any
    """The type that pydantic checks the value against."""

    @property
    def value(self) -> Any:
        """The value, decoded."""
        return json.loads(self.text)

    @classmethod
    def of(cls, value: Any) -> Self:
        """Encode a value.  Raises ValueError for what is not JSON."""
        return cls(encode_long_json(value))

    @classmethod
    def _validate(cls, value: Any) -> Self:
        try:
            return cls.of(value)
        except ValueError as error:
            raise PydanticCustomError("json_value", "{error}", {"error": str(error)}) from None

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            cls._validate,
            handler.generate_schema(cls.accepts),
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda json_text: json_text.value
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        # The serializer hides what comes out; it is what went in.
        return handler(_without_serializer(schema))


class JsonObject(JsonText):
    """Any JSON object."""

    accepts = dict[str, Any]


@dataclass(frozen=True)
class JsonObjects(JsonText):
    """An array of JSON objects, and how many they are."""

    count: int

    # A million wrong elements are one error, not a million.
    accepts = Annotated[list[dict[str, Any]], FailFast()]

    @classmethod
    def of(cls, value: Any) -> Self:
        return cls(encode_long_json(value), len(value))


class _Size(BaseModel):
    # Whatever else there is is not looked at: there can be a hundred thousand of it.
    model_config = ConfigDict(extra="ignore")

    width: Annotated[Int32, Field(gt=0)]
    height: Annotated[Int32, Field(gt=0)]


class Dimensions(JsonObject):
    """The display's ``width`` and ``height`` in pixels, and whatever else was said about it."""

    @classmethod
    def _validate(cls, value: Any) -> Self:
        _Size.model_validate(value)
        return super()._validate(value)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        pixels = {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}
        return {
            "type": "object",
            "properties": {"width": pixels, "height": pixels},
            "required": ["width", "height"],
            "additionalProperties": True,
        }


def _without_serializer(schema: CoreSchema) -> CoreSchema:
    return {key: part for key, part in schema.items() if key != "serialization"}
