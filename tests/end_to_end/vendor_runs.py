"""The loops that a program runs a model in, each with its vendor's own SDK.

They are apart from the tests, as the SDKs take seconds to be imported.
"""

from collections.abc import Awaitable, Callable, Container
from typing import Any

import anthropic
import openai
from anthropic.types.beta import BetaMessage, BetaMessageParam
from google import genai
from google.genai.types import HttpOptions
from openai.types.responses import ResponseComputerToolCall

import farhand
from farhand.models.anthropic import AsyncComputer as AsyncAnthropicComputer
from farhand.models.anthropic import Computer as AnthropicComputer
from farhand.models.anthropic import Computer20251124
from farhand.models.gemini import AsyncComputer as AsyncGeminiComputer
from farhand.models.gemini import Computer as GeminiComputer
from farhand.models.openai import AsyncComputer as AsyncOpenAIComputer
from farhand.models.openai import Computer as OpenAIComputer

LONGEST = 640
"""Half of the desktop's, so that places have to be put where they belong."""
GOAL: BetaMessageParam = {"role": "user", "content": "Do it."}

Confirm = Callable[[Any], bool]


def yes(_call: Any) -> bool:
    return True


def _said(message: BetaMessage) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def by_anthropic(url: str, machine: farhand.Machine, confirm: Confirm = yes) -> str:
    """Run a model of the service at a URL to its end; what it says then."""
    computer = AnthropicComputer(machine, confirm=confirm, longest=LONGEST)
    with anthropic.Anthropic(base_url=url, api_key="none") as client:
        runner = client.beta.messages.tool_runner(
            model="stand-in", max_tokens=1024, messages=[GOAL], tools=[computer]
        )
        *_, last = computer.turns(runner)
        return _said(last)


def by_anthropic_20251124(url: str, machine: farhand.Machine, confirm: Confirm = yes) -> str:
    return by_computer_20251124(url, Computer20251124.of(machine, confirm=confirm, longest=LONGEST))


def by_computer_20251124(url: str, computer: Computer20251124) -> str:
    with anthropic.Anthropic(base_url=url, api_key="none") as client:
        runner = client.beta.messages.tool_runner(
            model="stand-in",
            max_tokens=1024,
            messages=[GOAL],
            tools=[computer],
            betas=["computer-use-2025-11-24"],
        )
        *_, last = computer.turns(runner)
        return _said(last)


def by_openai(
    url: str, machine: farhand.Machine, confirm: Confirm | None = None, turns: int = 50
) -> str:
    computer = OpenAIComputer(machine, confirm=confirm, longest=LONGEST)
    with openai.OpenAI(base_url=url, api_key="none") as client:
        return computer.run(client, "Do it.", model="stand-in", turns=turns).output_text


def by_gemini(
    url: str, machine: farhand.Machine, confirm: Confirm | None = None, turns: int = 50
) -> str:
    computer = GeminiComputer(machine, confirm=confirm, longest=LONGEST)
    with genai.Client(api_key="none", http_options=HttpOptions(base_url=url)) as client:
        return computer.run(client, "Do it.", model="stand-in", turns=turns).text or ""


async def _confirm(_call: Any) -> bool:
    return True


async def by_anthropic_async(url: str, machine: farhand.AsyncMachine) -> str:
    computer = AsyncAnthropicComputer(machine, confirm=_confirm, longest=LONGEST)
    async with anthropic.AsyncAnthropic(base_url=url, api_key="none") as client:
        runner = client.beta.messages.tool_runner(
            model="stand-in", max_tokens=1024, messages=[GOAL], tools=[computer]
        )
        messages = [message async for message in computer.turns(runner)]
        return _said(messages[-1])


async def by_openai_async(url: str, machine: farhand.AsyncMachine) -> str:
    computer = AsyncOpenAIComputer(machine, confirm=_confirm, longest=LONGEST)
    async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:
        return (await computer.run(client, "Do it.", model="stand-in")).output_text


async def by_gemini_async(url: str, machine: farhand.AsyncMachine) -> str:
    computer = AsyncGeminiComputer(machine, confirm=_confirm, longest=LONGEST)
    options = HttpOptions(base_url=url)
    async with genai.Client(api_key="none", http_options=options).aio as client:
        return (await computer.run(client, "Do it.", model="stand-in")).text or ""


def openai_toolset(machine: farhand.Machine, allowed: Container[str]) -> Callable[[Any], str]:
    """The SDK's own toolset: has a call carried out, and returns the picture after it, as a URL.

    Raises the SDK's error at an action that is not allowed.
    """
    toolset = openai.ComputerToolset(OpenAIComputer(machine, longest=LONGEST))

    def execute(call: Any) -> str:
        output = toolset.execute(
            ResponseComputerToolCall.model_validate(call),
            before_action=lambda action: action.type in allowed,
        )
        return output["output"]["image_url"]

    return execute


def openai_outputs(machine: farhand.Machine, calls: list[Any]) -> list[Any]:
    """What a loop of a program's own sends for the calls of a turn."""
    computer = OpenAIComputer(machine, longest=LONGEST)
    return [*computer.outputs([ResponseComputerToolCall.model_validate(each) for each in calls])]


def without_confirm(machine: farhand.Machine, *, keyboard: bool) -> Any:
    """The tool as Anthropic's service takes it, for a machine that nobody confirms anything of."""
    if keyboard:
        return AnthropicComputer(machine).to_dict()
    off = {"enabled": False}
    configs: Any = {"key": off, "hold_key": off, "type": off}
    return AnthropicComputer(machine, configs=configs).to_dict()


RUNS: dict[str, Callable[..., str]] = {
    "anthropic": by_anthropic,
    "anthropic-20251124": by_anthropic_20251124,
    "openai": by_openai,
    "gemini": by_gemini,
}
ASYNC_RUNS: dict[str, Callable[[str, farhand.AsyncMachine], Awaitable[str]]] = {
    "anthropic": by_anthropic_async,
    "openai": by_openai_async,
    "gemini": by_gemini_async,
}
