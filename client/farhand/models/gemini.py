"""A machine as the computer that Gemini's models use, by the SDK ``google-genai``.

>>> computer = Computer(farhand.machine("reception"))
>>> computer.run(genai.Client(), "Write hello into the open window", model=...)

:class:`AsyncComputer` is the same for asyncio, and takes ``genai.Client().aio``.
``docs/reference/models.md`` says more.
"""

from farhand.models._installing import needs

with needs("google.genai", "gemini"):
    from farhand._async.models.gemini import AsyncComputer
    from farhand._sync.models.gemini import Computer

__all__ = ["AsyncComputer", "Computer"]
