"""A machine as Anthropic's computer, in the tool runner of the SDK ``anthropic``.

>>> computer = Computer(farhand.machine("reception"), confirm=ask)
>>> runner = client.beta.messages.tool_runner(tools=[computer], model=..., ...)
>>> for message in computer.turns(runner):
...     ...

:class:`Computer` is ``computer_toolset_20260801``, :class:`Computer20251124` the one before it.
The two others are the same for asyncio.  ``docs/reference/models.md`` says more.
"""

from farhand.models._installing import needs

with needs("anthropic", "anthropic"):
    from farhand._async.models.anthropic import AsyncComputer
    from farhand._async.models.anthropic_20251124 import AsyncComputer20251124
    from farhand._sync.models.anthropic import Computer
    from farhand._sync.models.anthropic_20251124 import Computer20251124

__all__ = ["AsyncComputer", "AsyncComputer20251124", "Computer", "Computer20251124"]
