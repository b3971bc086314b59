"""Under which key a call of a tool is sent.

A host that never saw an answer may call again, and then nothing may happen twice.  A JSON-RPC id
does not tell the same call from another: it begins at 1 with each connection.  Some hosts say
which call of the model's they pass on, by an id that is unique in the world.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple


class Host(NamedTuple):
    """A program that calls tools for a model, and what it says in ``_meta`` of each call."""

    name: str
    member: str
    unique: re.Pattern[str]
    """The ids that their maker draws at random.  A host that was pointed at another model's API
    hands on what that gives, such as ``call_0``."""


HOSTS: Final = (
    # In what Claude Code 2.1 sends: {"claudecode/toolUseId": "toolu_01...", "progressToken": 2}.
    Host("Claude Code", "claudecode/toolUseId", re.compile(r"toolu_[A-Za-z0-9_]{20,80}")),
    # github.com/openai/codex, build_mcp_tool_call_request_meta in codex-rs/core.
    Host("Codex", "callId", re.compile(r"call_[A-Za-z0-9]{20,80}")),
)
"""VS Code's ``vscode.requestId`` is of a question, with any number of calls; a ``progressToken`` is
counted, as JSON-RPC's id is."""


def key_of_call(meta: Mapping[str, Any], caller: bytes, machine: str, tool: str) -> str | None:
    """The Idempotency-Key of a call that its host names; None where it names none."""
    for host in HOSTS:
        said = meta.get(host.member)
        if isinstance(said, str) and host.unique.fullmatch(said):
            parts = (caller, host.member.encode(), said.encode(), machine.encode(), tool.encode())
            # Each with its length, so that no two calls have the same parts one after another.
            bound = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
            return f"mcp-{hashlib.sha256(bound).hexdigest()}"
    return None
