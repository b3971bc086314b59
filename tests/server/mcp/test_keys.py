"""A key says which call it is, and of whom, where the host says so."""

import re

import pytest

from server.mcp.keys import HOSTS, key_of_call

TOOL_USE = "toolu_01JRZMoGStk2TJgF4mWczUGH"
CALL = "call_9yKT1kJSDYnWJZ1DbL0nbXYc"


def key(
    said: object = TOOL_USE,
    member: str = "claudecode/toolUseId",
    caller: bytes = b"a token",
    machine: str = "desk-1",
    tool: str = "type",
) -> str | None:
    return key_of_call({"progressToken": 2, member: said}, caller, machine, tool)


def test_key_is_the_same_for_the_same_call_and_for_no_other() -> None:
    keys = [
        key(),
        key(TOOL_USE[:-1] + "I"),
        key(CALL, "callId"),
        key(caller=b"another"),
        key(machine="desk-2"),
        key(tool="key"),
        key(machine="desk-1type", tool=""),
    ]
    assert len({*keys}) == len(keys)
    assert None not in keys
    assert key() == key()
    assert re.fullmatch(r"mcp-[0-9a-f]{64}", key() or "")


@pytest.mark.parametrize(
    ("said", "member"),
    [
        (TOOL_USE, "callId"),
        (CALL, "claudecode/toolUseId"),
        # What other models' APIs give, and what hosts count.
        ("call_0", "callId"),
        ("toolu_1", "claudecode/toolUseId"),
        ("toolu_" + "a" * 200, "claudecode/toolUseId"),
        (2, "progressToken"),
        (1, "callId"),
        (None, "claudecode/toolUseId"),
        ([TOOL_USE], "claudecode/toolUseId"),
        ("0f3c", "vscode.requestId"),
    ],
)
def test_what_is_not_unique_in_the_world_is_no_key(said: object, member: str) -> None:
    assert key(said, member) is None


def test_no_host_says_anything() -> None:
    assert key_of_call({}, b"", "desk-1", "type") is None
    assert len({host.member for host in HOSTS}) == len(HOSTS)
