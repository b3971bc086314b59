"""The tool that asks a person."""

from typing import Annotated, Any, Final, Literal
from uuid import uuid4

from pydantic import Field

from schemas.help.requests import DEFAULT_SECONDS, LONGEST_SECONDS, LONGEST_WAIT
from schemas.values.scalars import Note
from server.mcp.arguments import Input
from server.mcp.desk import Desk, Said

WAIT_SECONDS: Final = 45
"""Less than hosts of models wait for a tool."""


class RequestHelp(Input):
    """Ask a person to do something on the machine, or to approve what you want to do, and wait."""

    name = "request_help"
    title = "Ask a person"
    destroys = False

    reason: Note = Field(description="What to do or approve.")
    kind: Literal["help", "approval"] = Field(
        "help", description="Answers: done or cannot; to approval approve or deny."
    )
    timeout: Annotated[int, Field(strict=True, ge=1, le=LONGEST_SECONDS)] = Field(
        DEFAULT_SECONDS, description="Seconds that it stands."
    )
    wait: Annotated[int, Field(strict=True, ge=0, le=LONGEST_WAIT)] = Field(
        WAIT_SECONDS,
        description="Seconds to wait now; while it is open, repeat the call with the key.",
    )

    async def do(self, desk: Desk) -> Said:
        key = desk.key or str(uuid4())
        asked = await desk.help.ask(
            self.machine, self.reason, kind=self.kind, timeout=self.timeout, key=key
        )
        found = await desk.help.get(asked.id, wait=self.wait) if self.wait else asked
        facts: dict[str, Any] = {"state": found.state, "idempotency_key": key}
        for name in ("answer", "comment", "answered_by"):
            if (value := getattr(found, name)) is not None:
                facts[name] = value
        return Said(facts)
