"""How one step of a trajectory is changed, and how steps are answered one by one."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from pydantic_core import PydanticCustomError

from schemas.http.patches import not_given
from schemas.http.queries import Page
from schemas.inputs.texts import MAX_TEXT_LENGTH
from schemas.steps.parameters import (
    Parameter,
    ParameterName,
    Parameters,
    literal,
    with_parameter,
)
from schemas.steps.step import (
    MAX_PAUSE_MILLISECONDS,
    TEXT_FIELDS,
    Expectation,
    ProposedConditions,
    Step,
    Target,
)
from schemas.values.scalars import Name, Text
from schemas.values.strict import StrictModel
from schemas.values.validation_errors import Wrong, errors_of


class NewParameter(Parameter):
    """A part of a step's text that becomes a parameter."""

    name: ParameterName
    text: Annotated[Text, Field(min_length=1, max_length=MAX_TEXT_LENGTH)] = Field(
        description="The part, wherever it stands in the step's text; also the example where none "
        "is given."
    )


class ChangedStep(StrictModel):
    """The body of ``PATCH /v1/trajectories/{trajectory_id}/steps/{number}``.

    What is named changes, nothing else.  Null takes a member away.
    """

    name: Name | None = None
    after_ms: Annotated[int, Field(strict=True, ge=0, le=MAX_PAUSE_MILLISECONDS)] | None = None
    body: dict[str, Any] = Field(
        default_factory=not_given, description="The whole body, in the place of the one before."
    )
    target: Target | None = None
    expect: Expectation | None = None
    proposed: ProposedConditions | None = None
    parameters: Parameters | None = Field(
        None, description="All parameters of the text, in the place of those before."
    )
    parameter: NewParameter = Field(
        default_factory=not_given,
        description='Makes a parameter of a part of the text: 4711 becomes {{order}} by {"name": '
        '"order", "text": "4711"}.  Whatever else is in the text stays as it is.',
    )
    secret: ParameterName | None = Field(
        None,
        description="Takes the text out of the step, with its parameters and the picture after it, "
        "and puts the secret of this name in its place; null with a body undoes that.",
    )


class TrajectoryStep(BaseModel):
    """A step with its number."""

    number: int = Field(ge=1, description="Counted from 1.")
    cannot_run: str | None = Field(
        description="Why Farhand cannot do what it says, such as a step of another product; null "
        "where it can."
    )
    pictures_gone: Literal["expired", "missing"] | None = Field(
        description="Why a picture that the step names is not there: expired, by its age or for "
        "others' room, or missing, as it was deleted or never sent; null where all are there."
    )
    step: dict[str, Any] = Field(description="The step as it is kept.")


class StepPage(Page[TrajectoryStep]):
    """A part of the steps of a trajectory, in their order."""


def changed_step(step: Mapping[str, Any], change: ChangedStep) -> dict[str, Any]:
    """The step as it is after a change.  Raises ValidationError where it could not run then."""
    given = change.model_dump(
        mode="json", by_alias=True, exclude_unset=True, exclude={"parameter", "secret"}
    )
    gone = {name for name, value in given.items() if value is None}
    changed = {name: value for name, value in {**step, **given}.items() if name not in gone}
    if "secret" in change.model_fields_set:
        changed = _with_secret(changed, change)
    if "parameter" in change.model_fields_set:
        changed = _with_parameter(changed, change.parameter)
    Step.model_validate(changed)
    return changed


def _with_secret(step: Mapping[str, Any], change: ChangedStep) -> dict[str, Any]:
    if change.secret is None:
        return {name: value for name, value in step.items() if name != "secret"}
    body = step.get("body")
    if isinstance(body, dict) and "body" not in change.model_fields_set:
        field = TEXT_FIELDS.get(step.get("operation", ""))
        body = {name: value for name, value in body.items() if name != field}
    kept = {name: value for name, value in step.items() if name != "parameters"}
    seen = {"picture_after": None} if "picture_after" in step else {}
    return {**kept, **seen, "body": body, "secret": change.secret}


def _with_parameter(step: Mapping[str, Any], new: NewParameter) -> dict[str, Any]:
    body = step["body"] if isinstance(step.get("body"), dict) else {}
    field = TEXT_FIELDS.get(step.get("operation", ""), "")
    text = body.get(field)
    if not isinstance(text, str):
        raise _wrong("name", new.name, "the step has no text that is typed or copied")
    parameters = step.get("parameters") or {}
    try:
        template, times = with_parameter(text if parameters else literal(text), new.text, new.name)
    except ValueError as error:
        raise _wrong("text", new.text, str(error)) from None
    if not times:
        raise _wrong("text", new.text, "does not stand in the step's text")
    said = new.model_dump(mode="json", exclude_unset=True, exclude={"name", "text"})
    added = {new.name: {"example": new.text, **said}}
    return {
        **step,
        "body": {**body, field: template},
        "parameters": {**parameters, **added},
    }


def _wrong(field: str, value: str, words: str) -> Exception:
    error = PydanticCustomError("parameter_wrong", "{words}", {"words": words})
    return errors_of([Wrong(("parameter", field), error, value)])
