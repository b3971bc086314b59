# Made of farhand/_async by client/unasync.py: change it there.
"""A machine as Anthropic's computer, for the tool runner of its SDK."""

import base64
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from anthropic.lib.tools import ToolError
from anthropic.tools import ToolsetUsageError
from anthropic.tools.computer import (
    BetaAbstractComputerToolset20260801,
    BetaComputerConfirmCallable,
    BetaComputerConfirmContext,
    BetaComputerCursorPositionResult,
    BetaComputerMemberResult,
    BetaScreenshotResult,
    BetaToolConfigs,
    BetaToolsetCallContext,
)
from anthropic.types.beta import (
    BetaComputerMemberInput,
    BetaComputerMemberName,
    BetaComputerToolsetConfigsParam,
    BetaMessage,
    BetaToolResultBlockParam,
    BetaToolUseBlock,
)

from farhand._models import phrases
from farhand._models.anthropic_actions import ACTIONS
from farhand._models.steps import LONGEST_SIDE, Outcome, Step, step_of
from farhand._sync.machine import Machine
from farhand._sync.models.desk import Desk

Message = TypeVar("Message", bound=BetaMessage)

_NOT_YET = "This action has not been carried out yet."


class Turns:
    """Knows which calls of a message belong together: those with no other tool's between them."""

    def __init__(self) -> None:
        self._runs: dict[int, list[BetaToolUseBlock]] = {}
        """Of the message at hand, by the identity of each call's input, which every tool gets."""
        self._ended_by: Exception | None = None

    def turns(self, runner: Iterable[Message]) -> Iterator[Message]:
        """The messages of a tool runner that does not stream; each turn is one request.

        Without this the tool runner works as well, and each action is a request of its own.
        Raises a :class:`farhand.FarhandError` where the machine cannot be worked.
        """
        self._ended_by = None
        for message in runner:
            if self._ended_by is not None:
                raise self._ended_by
            yield message
            self._began(message)

    def _began(self, message: BetaMessage) -> None:
        self._runs, run = {}, []
        for block in message.content:
            if block.type != "tool_use":
                continue
            if "computer" in (block.toolset_name, block.name):
                run.append(block)
                self._runs[id(block.input)] = run
            else:
                run = []


class Computer(Turns, BetaAbstractComputerToolset20260801):
    """A machine as ``computer_toolset_20260801``: give it to the tool runner as one of its tools.

    ``confirm`` is asked before each action, and has to say ``True``: the SDK says more of it, and
    of ``configs`` and ``tool_configs``.  Leave it out only if ``configs`` takes the keyboard away.
    ``longest`` is the longest side of the pictures that the model gets, in pixels.
    """

    def __init__(
        self,
        machine: Machine,
        *,
        confirm: BetaComputerConfirmCallable | None = None,
        longest: int = LONGEST_SIDE,
        configs: BetaComputerToolsetConfigsParam | None = None,
        tool_configs: BetaToolConfigs | None = None,
    ) -> None:
        Turns.__init__(self)
        BetaAbstractComputerToolset20260801.__init__(
            self,
            configs=configs,
            confirm=None if confirm is None else self._once(confirm),
            tool_configs=tool_configs,
        )
        self._desk = Desk(machine, longest)
        self._answers: dict[str, BetaToolResultBlockParam] = {}
        self._steps: dict[str, Step] = {}
        """Those of the calls that are looked at, and not carried out yet."""
        self._outcomes: dict[str, Outcome] = {}
        self._is_answering = False

    def tool_result(self, tool_use: BetaToolUseBlock) -> BetaToolResultBlockParam:
        """Carry out a call, with those that belong to it, unless that is done."""
        if tool_use.id not in self._answers:
            run = self._runs.get(id(tool_use.input))
            answers = self._answered(run or [tool_use])
            self._answers = {**self._answers, **answers} if run else answers
        return self._answers[tool_use.id]

    def execute(
        self,
        context: BetaToolsetCallContext,
        name: BetaComputerMemberName,
        input: BetaComputerMemberInput,
    ) -> BetaComputerMemberResult:
        """Say how a call ended, or note what it comes to: the SDK has checked it, and asked."""
        if context.tool_use is None or not self._is_answering:
            raise ToolsetUsageError("use tool_result(), as the tool runner does")
        outcome = self._outcomes.get(context.tool_use.id)
        if outcome is None:
            step = step_of(ACTIONS, name, input.model_dump(exclude_none=True))
            self._steps[context.tool_use.id] = step
            raise ToolError(_NOT_YET)
        if outcome.failure is not None:
            raise ToolError(outcome.failure)
        if outcome.picture is not None:
            data = base64.b64encode(outcome.picture.data).decode()
            return BetaScreenshotResult(data=data, media_type="image/png")
        if outcome.pointer is not None:
            return BetaComputerCursorPositionResult(x=outcome.pointer[0], y=outcome.pointer[1])
        return None

    def _began(self, message: BetaMessage) -> None:
        super()._began(message)
        self._answers = {}

    def _answered(self, calls: Sequence[BetaToolUseBlock]) -> dict[str, BetaToolResultBlockParam]:
        """The SDK looks at each call twice: first nothing is done, then all of it is."""
        self._steps, self._outcomes, self._is_answering = {}, {}, True
        answers: dict[str, BetaToolResultBlockParam] = {}
        try:
            for call in calls:
                answer = super().tool_result(call)
                if call.id not in self._steps:
                    answers[call.id] = answer  # It is refused, and so nothing after it is done.
                    break
            ended = self._desk.carry_out([*self._steps.values()])
            self._outcomes = {call.id: Outcome(phrases.NOT_EXECUTED) for call in calls}
            self._outcomes |= zip(self._steps, ended, strict=True)
            for call in calls:
                if call.id not in answers:
                    answers[call.id] = super().tool_result(call)
        finally:
            self._is_answering = False
        return answers

    def _once(self, confirm: BetaComputerConfirmCallable) -> BetaComputerConfirmCallable:
        def ask(call: BetaComputerConfirmContext) -> Any:
            is_known = call.tool_use is not None and call.tool_use.id in self._outcomes
            return is_known or confirm(call)

        return ask
