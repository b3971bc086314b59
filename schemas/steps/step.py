"""A step of a trajectory: what was done, when, by whom, where, and what the screen showed.

A trajectory keeps any JSON object as a step, those of other products too.  This is what Farhand
records, shows, edits and runs; :func:`why_cannot_run` says of any other what it lacks.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal, Self
from uuid import UUID

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from schemas.inputs.actions import MAX_SECONDS
from schemas.inputs.bodies import INPUT_BODIES, Operation
from schemas.inputs.pictures import Area
from schemas.inputs.selectors import Selector
from schemas.inputs.sights import Place
from schemas.inputs.waits import MAX_WAIT_SECONDS, Conditions, check_conditions
from schemas.steps.parameters import ParameterName, Parameters, filled, names_in
from schemas.steps.surroundings import Around
from schemas.values.pictures import PictureId
from schemas.values.scalars import Name, Text
from schemas.values.strict import StrictModel
from schemas.values.validation_errors import Wrong, entries_of, errors_of, sentence

MAX_PAUSE_MILLISECONDS: Final = 24 * 60 * 60 * 1000
GAP: Final = "gap"
TEXT_FIELDS: Final[Mapping[str, str]] = {
    Operation.KEYBOARD_TYPE.value: "text",
    Operation.CLIPBOARD_WRITE.value: "text",
    Operation.ELEMENT_SET_VALUE.value: "value",
}
"""The operations whose text may have parameters, or be a secret, and where it stands; key
combinations may not."""

_ANY_VALUE: Final = "7"
"""Stands for a parameter without an example while a step is checked: it is of every type."""


class Pause(StrictModel):
    """The body of ``wait``."""

    seconds: Annotated[float, Field(strict=True, gt=0, le=MAX_SECONDS, allow_inf_nan=False)]


class Expectation(StrictModel):
    """What the screen shows once a step is done; also the body of ``wait_for``."""

    any: Conditions = Field(description="The first of these that is met is enough.")
    timeout: Annotated[
        float, Field(strict=True, gt=0, le=MAX_WAIT_SECONDS, allow_inf_nan=False)
    ] = Field(10, description="Seconds, after which it was not seen.")

    _check_number = field_validator("any", mode="before")(check_conditions)


ProposedConditions = Annotated[Conditions, BeforeValidator(check_conditions)]
"""What an expectation may be made of."""


class Gap(StrictModel):
    """The body of ``gap``, which marks where something may be missing."""

    reason: Annotated[Text, Field(min_length=1, max_length=1000)]


class DoneBy(StrictModel):
    """Who did a step when it was recorded."""

    token_id: UUID | None = None
    token_name: Name | None = None
    user_id: UUID | None = None
    through: Literal["api", "actions", "hand", "mcp"] | None = Field(
        None, description="By an input, as one of several actions, by hand, or as a model's tool."
    )


class Crop(StrictModel):
    """The part of a picture that is around a step's place."""

    picture: PictureId = Field(description="A picture of the whole desktop.")
    area: Area
    place: Place | None = Field(
        None, description="Of a step without a place where the click was that its keys follow."
    )


class Target(StrictModel):
    """What a step was done to."""

    element: Selector | None = Field(
        None,
        description="What finds the element under the step's place, alone or by what is around it; "
        "of a step without a place the element that its keys went to.",
    )
    box: Area | None = Field(None, description="Where the element is.")
    around: Around | None = Field(None, description="What stands around the element.")
    crop: Crop | None = None
    display: Annotated[int, Field(strict=True, ge=0, le=63)] | None = Field(
        None, description="The display, by its place in the list of the dimensions."
    )


_BODIES: Final[Mapping[str, Callable[[Any], BaseModel]]] = {
    **{operation.value: body.model_validate for operation, body in INPUT_BODIES.items()},
    "wait": Pause.model_validate,
    "wait_for": Expectation.model_validate,
    GAP: Gap.model_validate,
}
OPERATIONS: Final = tuple(_BODIES)
"""What a step can be: an input by its operation, and what stands between inputs."""


class Step(StrictModel):
    """A step as Farhand writes it.  Store it as :meth:`stored` says."""

    operation: str = Field(json_schema_extra={"enum": list(OPERATIONS)})
    body: dict[str, Any] = Field(description="What a request of that operation has.")
    name: Name | None = None
    after_ms: Annotated[int, Field(strict=True, ge=0, le=MAX_PAUSE_MILLISECONDS)] | None = Field(
        None, description="Milliseconds since the step before."
    )
    by: DoneBy | None = None
    command_id: UUID | None = None
    picture: PictureId | None = Field(
        None, description="The screen as the step found it; null where no picture was fresh."
    )
    picture_after: PictureId | None = Field(None, description="The screen once it was done.")
    target: Target | None = None
    expect: Expectation | None = None
    proposed: ProposedConditions | None = Field(
        None,
        description="What was seen to come and go by the step when it was recorded, for a reviewer "
        "to choose an expectation from; a run does not look at it.",
    )
    secret: ParameterName | None = Field(
        None, description="The secret whose value is the text, which the body then lacks."
    )
    parameters: Parameters | None = Field(
        None,
        description="What may stand in the text, which is a template then: {{order}} is the value "
        "of the parameter order, and {{{{ two braces.",
    )

    @field_validator("operation")
    @classmethod
    def _is_known(cls, operation: str) -> str:
        if operation not in _BODIES:
            raise PydanticCustomError(
                "operation_unknown",
                "operation must be one of {known}",
                {"known": ", ".join(OPERATIONS)},
            )
        return operation

    @model_validator(mode="after")
    def _has_its_body(self) -> Self:
        body = dict(self.body)
        if self.secret is not None or self.parameters:
            if (field := TEXT_FIELDS.get(self.operation)) is None:
                raise PydanticCustomError(
                    "not_a_text",
                    "only the text of {operations} can be a secret or have parameters",
                    {"operations": ", ".join(TEXT_FIELDS)},
                )
            body[field] = self._text_to_check(body, field)
        try:
            _BODIES[self.operation](body)
        except ValidationError as error:
            raise errors_of(
                Wrong(
                    ("body", *each["loc"]),
                    PydanticCustomError(each["type"], each["msg"]),
                    None if self.secret else each["input"],
                )
                for each in error.errors()
            ) from None
        return self

    def _text_to_check(self, body: Mapping[str, Any], field: str) -> Any:
        """The text that the body would have with any values."""
        if self.secret is not None:
            if self.parameters or field in body:
                raise PydanticCustomError(
                    "secret_with_text", "a secret's step has neither a text nor parameters"
                )
            return _ANY_VALUE
        text = body.get(field)
        return self._with_examples(text) if isinstance(text, str) else text

    def _with_examples(self, template: str) -> str:
        parameters = self.parameters or {}
        try:
            unused = parameters.keys() - names_in(template)
            examples = {name: each.example or _ANY_VALUE for name, each in parameters.items()}
            text = filled(template, examples)
        except KeyError as missing:
            why = f"{missing.args[0]} stands in the text and is not one of the parameters"
        except ValueError as error:
            why = str(error)
        else:
            if not unused:
                return text
            why = f"{min(unused)} is a parameter that the text does not have"
        raise PydanticCustomError("template_wrong", "{why}", {"why": why})

    def stored(self) -> dict[str, Any]:
        """The step as a trajectory keeps it: what was said of it, null where that was said."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def why_cannot_run(step: Mapping[str, Any]) -> str | None:
    """Why Farhand cannot do what a step says, as a sentence; None where it can."""
    if step.get("operation") not in OPERATIONS:
        return "It is not Farhand's: its operation is none of " + ", ".join(OPERATIONS[:-1]) + "."
    try:
        known = Step.model_validate(step)
    except ValidationError as error:
        return f"{sentence(entries_of(error.errors())[0])}."
    if known.operation == GAP:
        return f"Something may be missing here: {known.body['reason']}"
    return None
