# Made of farhand/_async by client/unasync.py: change it there.
"""A machine as the computer tool that Anthropic had before its toolset."""

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from anthropic.lib.tools import BetaBuiltinFunctionTool, ToolError
from anthropic.tools.computer import BetaComputerConfirmContext
from anthropic.types.beta import BetaImageBlockParam, BetaMessage, BetaToolComputerUse20251124Param
from anthropic.types.beta.beta_tool_result_block_param import Content

from farhand._models import phrases
from farhand._models.anthropic_actions import ACTIONS
from farhand._models.steps import LONGEST_SIDE, Outcome, Step, step_of
from farhand._models.view import View
from farhand._sync.machine import Machine
from farhand._sync.models.anthropic import Turns
from farhand._sync.models.desk import Desk


class Computer20251124(Turns, BetaBuiltinFunctionTool):
    """A machine as ``computer_20251124``, for models and services that lack the toolset.

    :meth:`of` makes one.  The tool runner needs the beta ``computer-use-2025-11-24`` with it.
    """

    def __init__(
        self,
        desk: Desk,
        view: View,
        confirm: Callable[[BetaComputerConfirmContext], bool],
    ) -> None:
        super().__init__()
        self._desk = desk
        self._size = view.size
        self._confirm = confirm
        self._answers: dict[int, tuple[object, Outcome]] = {}
        """By the identity of each call's input, which is kept here so that it stays its own."""

    @classmethod
    def of(
        cls,
        machine: Machine,
        *,
        confirm: Callable[[BetaComputerConfirmContext], bool],
        longest: int = LONGEST_SIDE,
    ) -> Self:
        """Look at the machine, whose size the model must know from the first.

        ``confirm`` is asked before each action, and has to say ``True``.
        """
        desk = Desk(machine, longest)
        return cls(desk, desk.view(), confirm)

    def to_dict(self) -> BetaToolComputerUse20251124Param:
        """The tool, as the service takes it."""
        width, height = self._size
        return {
            "type": "computer_20251124",
            "name": "computer",
            "display_width_px": width,
            "display_height_px": height,
            "enable_zoom": True,
        }

    def call(self, input: object) -> list[Content]:
        """Carry out a call, with those that belong to it, unless that is done."""
        if id(input) not in self._answers:
            run = self._runs.get(id(input))
            try:
                self._answer([call.input for call in run] if run else [input], bool(run))
            except Exception as error:  # noqa: BLE001 - the runner would tell the model its text
                self._ended_by = error
                raise ToolError(phrases.UNREACHABLE) from None
        _, outcome = self._answers[id(input)]
        if outcome.failure is not None:
            raise ToolError(outcome.failure)
        if outcome.picture is not None:
            data = base64.b64encode(outcome.picture.data).decode()
            image: BetaImageBlockParam = {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": data},
            }
            return [image]
        text = "Done." if outcome.pointer is None else "X={},Y={}".format(*outcome.pointer)
        return [{"type": "text", "text": text}]

    def _began(self, message: BetaMessage) -> None:
        super()._began(message)
        self._answers = {}

    def _answer(self, inputs: Sequence[Any], is_of_turn: bool) -> None:
        kept = self._answers if is_of_turn else {}
        steps: list[Step] = []
        if not any(outcome.failure for _, outcome in kept.values()):
            for given in inputs:
                steps.append(self._step(given))
                if steps[-1].refusal is not None:
                    break
        outcomes = self._desk.carry_out(steps)
        left = len(inputs) - len(outcomes)
        outcomes += [Outcome(phrases.NOT_EXECUTED)] * left
        for given, outcome in zip(inputs, outcomes, strict=True):
            kept[id(given)] = given, outcome
        self._answers = kept

    def _step(self, given: Mapping[str, Any]) -> Step:
        name = str(given.get("action"))
        step = step_of(ACTIONS, name, given)
        if step.refusal is None:
            # As the toolset's callback gets it, but for the input, which the SDK has no model of.
            context: Any = BetaComputerConfirmContext
            if self._confirm(context.model_construct(member=name, input=given)) is not True:
                return Step(refusal=phrases.NOT_ALLOWED)
        return step
