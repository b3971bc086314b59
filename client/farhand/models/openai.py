"""A machine as the computer of OpenAI's Responses API, by the SDK ``openai``.

>>> computer = Computer(farhand.machine("reception"))
>>> computer.run(OpenAI(), "Write hello into the open window", model=...)

:class:`AsyncComputer` is the same for asyncio.  ``docs/reference/models.md`` says more.
"""

from farhand.models._installing import needs

with needs("openai", "openai"):
    from farhand._async.models.openai import AsyncComputer
    from farhand._sync.models.openai import Computer

__all__ = ["AsyncComputer", "Computer"]
