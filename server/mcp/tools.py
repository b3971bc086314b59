"""The one list of tools, and how one is called."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from farhand import AsyncFarhand
from server.mcp import elements, inputs, looks, people, recordings, runs, several
from server.mcp.arguments import Input, MachineTool, Overview, Tool
from server.mcp.desk import Desk, Said
from server.mcp.keys import key_of_call
from server.mcp.refusals import wrong_arguments

MOST_MACHINES: Final = 200
"""That a model is told of."""


class ListMachines(Overview):
    """List the machines that you can work on, with their ids and whether they are online."""

    name = "list_machines"
    title = "List the machines"

    async def look(self, farhand: AsyncFarhand) -> Said:
        machines = [
            {"machine": each.id, "name": each.name, "state": each.state}
            async for each in farhand.machines.list(limit=MOST_MACHINES + 1)
        ]
        facts: dict[str, Any] = {"machines": machines[:MOST_MACHINES]}
        if len(machines) > MOST_MACHINES:
            facts["left_out"] = f"there are more than {MOST_MACHINES} machines"
        return Said(facts)


TOOLS: Final[dict[str, type[Tool]]] = {
    tool.name: tool
    for tool in (
        ListMachines,
        looks.Screenshot,
        inputs.LeftClick,
        inputs.RightClick,
        inputs.MiddleClick,
        inputs.DoubleClick,
        inputs.TripleClick,
        inputs.MouseMove,
        inputs.LeftClickDrag,
        inputs.LeftMouseDown,
        inputs.LeftMouseUp,
        inputs.Scroll,
        inputs.Key,
        inputs.HoldKey,
        inputs.Type,
        inputs.Wait,
        looks.Zoom,
        looks.CursorPosition,
        elements.FindElements,
        elements.ClickElement,
        several.Actions,
        looks.WaitFor,
        looks.ReadTexts,
        looks.ClipboardRead,
        inputs.ClipboardWrite,
        recordings.StartRecording,
        recordings.StopRecording,
        people.RequestHelp,
        runs.RunWorkflow,
        runs.GetRun,
    )
}
"""Every tool by its name."""


async def call(
    farhand: AsyncFarhand,
    name: str,
    arguments: Mapping[str, Any],
    meta: Mapping[str, Any],
    caller: bytes,
) -> Said:
    """Do what a tool does.

    ``meta`` is what the host said beside the arguments, ``caller`` stands for its token.  Raises a
    FarhandError, or ToolRefusedError with a sentence for the model.
    """
    try:
        tool = TOOLS[name].model_validate(arguments)
    except ValidationError as error:
        raise wrong_arguments(error) from None
    if isinstance(tool, Overview):
        return await tool.look(farhand)
    assert isinstance(tool, MachineTool)  # noqa: S101  there is no third kind
    key = None
    if isinstance(tool, Input):
        key = tool.idempotency_key or key_of_call(meta, caller, tool.machine, name)
    machine = farhand.machine(tool.machine)
    return await tool.do(Desk(machine, key, farhand.recordings, farhand.help, farhand.runs))
