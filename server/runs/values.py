"""The values of a run: checked whole before anything is done, and put into the steps' texts."""

from collections.abc import Mapping, Sequence
from typing import Any

from schemas.steps.parameters import Parameter
from schemas.steps.step import Step


def checked(
    steps: Sequence[Step],
    schema: Mapping[str, Parameter] | None,
    values: Mapping[str, Any],
    secrets: Mapping[str, Any],
) -> None:
    """Check that a run brings what its steps need.

    ``schema`` is its workflow's; ``values`` and ``secrets`` stand in ``input_values`` and
    ``sensitive_input_values`` of the body.  Raises ValidationError, in which no value is repeated.
    """
    raise NotImplementedError


def filled(step: Step, values: Mapping[str, str]) -> dict[str, Any]:
    """The body of a step with the values, by the names of parameters and secrets, in its text.

    The values were checked before.  Raises ValueError, whose words name no value, where one is
    missing.
    """
    raise NotImplementedError
