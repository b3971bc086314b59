"""The values of a run: checked whole before anything is done, and put into the steps' texts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from schemas.inputs.bodies import INPUT_BODIES, Operation
from schemas.inputs.texts import MAX_TEXT_LENGTH
from schemas.steps import parameters
from schemas.steps.parameters import Parameter
from schemas.steps.step import TEXT_FIELDS, Step
from schemas.values.validation_errors import Wrong, errors_of

VALUES: Final = "input_values"
SECRETS: Final = "sensitive_input_values"

_SECRET: Final = Parameter(max_length=MAX_TEXT_LENGTH)
"""What a secret may be where its workflow says nothing of it."""


def checked(
    steps: Sequence[Step],
    schema: Mapping[str, Parameter] | None,
    values: Mapping[str, str],
    secrets: Mapping[str, str],
) -> None:
    """Check that a run brings what its steps need, and nothing else.

    ``schema`` is its workflow's; ``values`` and ``secrets`` stand in ``input_values`` and
    ``sensitive_input_values`` of the body.  Raises ValidationError, in which no value is repeated.
    """
    needed = _Needed(steps, schema or {})
    wrong = [*needed.wrong_in(values, secrets)]
    if not wrong:
        wrong = [*_wrong_texts(steps, {**values, **secrets})]
    if wrong:
        raise errors_of(wrong)


def filled(step: Step, values: Mapping[str, str]) -> dict[str, Any]:
    """The body of a step with the values, by the names of parameters and secrets, in its text.

    The values were checked before.  Raises ValueError, whose words name no value, where one is
    missing.
    """
    body, field = dict(step.body), TEXT_FIELDS.get(step.operation, "")
    try:
        if step.secret is not None:
            body[field] = values[step.secret]
        elif step.parameters:
            body[field] = parameters.filled(body[field], values)
    except KeyError as missing:
        raise ValueError(f"there is no value for {missing.args[0]}") from None
    return body


class _Needed:
    """The names that steps have, and what is said of each of them."""

    def __init__(self, steps: Sequence[Step], schema: Mapping[str, Parameter]) -> None:
        self._schema = schema
        self._parameters: dict[str, list[Parameter]] = {}
        self._secrets = {step.secret for step in steps if step.secret is not None}
        for step in steps:
            for name, parameter in (step.parameters or {}).items():
                self._parameters.setdefault(name, []).append(parameter)

    def wrong_in(self, values: Mapping[str, str], secrets: Mapping[str, str]) -> Iterator[Wrong]:
        """What is wrong with the values, name by name."""
        for name in sorted(self._secrets - secrets.keys()):
            yield _wrong(SECRETS, name, "missing", "is needed: a step types this secret")
        for name in sorted(self._parameters.keys() - values.keys() - secrets.keys()):
            yield _wrong(VALUES, name, "missing", "is needed: a step's text has this parameter")
        for field, given in ((VALUES, values), (SECRETS, secrets)):
            for name, value in given.items():
                if why := self._why_refused(
                    field, name, value, both=name in {*values} & {*secrets}
                ):
                    yield _wrong(field, name, "value_wrong", why)

    def _why_refused(self, field: str, name: str, value: str, *, both: bool) -> str | None:
        if both:
            return f"stands in {VALUES} and in {SECRETS}: give it once"
        if name in self._secrets and field == VALUES:
            return f"is a secret: give it in {SECRETS}"
        if name not in self._secrets | self._parameters.keys() | self._schema.keys():
            return "is no parameter of the workflow, and no step has it"
        said = [*self._parameters.get(name, ())]
        if name in self._schema:
            said.append(self._schema[name])
        if name in self._secrets and not value:
            return "is empty, and is to be typed"
        refusals = (each.why_refused(value) for each in said or [_SECRET])
        return next((why for why in refusals if why is not None), None)


def _wrong_texts(steps: Sequence[Step], values: Mapping[str, str]) -> Iterator[Wrong]:
    """Texts that only with their values are what cannot be typed, such as too long ones."""
    for number, step in enumerate(steps, 1):
        if step.secret is None and not step.parameters:
            continue
        try:
            INPUT_BODIES[Operation(step.operation)].model_validate(filled(step, values))
        except ValidationError as error:
            names = [step.secret] if step.secret else sorted(step.parameters or ())
            field = SECRETS if step.secret else VALUES
            why = f"makes a text of step {number} that cannot be: {error.errors()[0]['msg']}"
            yield _wrong(field, str(names[0]), "text_wrong", why)


def _wrong(field: str, name: str, kind: str, why: str) -> Wrong:
    error = PydanticCustomError(
        "missing" if kind == "missing" else "value_wrong", "{why}", {"why": why}
    )
    # Never the value itself: it may be a password.
    return Wrong((field, name), error, None)
