"""What hosts and models are told of the tools."""

import json
from pathlib import Path

from schemas.inputs.actions import AnyAction
from server.api.mcp import MAX_BODY_BYTES
from server.mcp.desk import LONGEST
from server.mcp.keys import HOSTS
from server.mcp.protocol import INSTRUCTIONS, descriptions
from server.mcp.tools import TOOLS
from tests.server.api.route_table import TABLE
from tests.server.api.test_mcp_authorization import PAIRS

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "mcp.md"

TRAINED = {
    *("screenshot", "left_click", "right_click", "middle_click", "double_click", "triple_click"),
    *("mouse_move", "left_click_drag", "left_mouse_down", "left_mouse_up", "scroll", "key"),
    *("hold_key", "type", "wait", "zoom", "cursor_position"),
}
"""The names of Anthropic's computer tool."""

OWN = {
    *("actions", "wait_for", "list_machines", "clipboard_read", "clipboard_write"),
    *("find_elements", "click_element", "read_texts", "start_recording", "stop_recording"),
    *("request_help", "run_workflow", "get_run"),
}


def test_tools_are_few_and_most_have_names_that_models_know() -> None:
    assert {*TOOLS} == TRAINED | OWN
    assert len(TOOLS) <= 30


def test_each_is_described_as_a_model_can_use_it() -> None:
    for tool in descriptions():
        assert tool.description is not None
        assert tool.description.endswith(".")
        schema = tool.input_schema
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        has_machine = tool.name not in ("list_machines", "get_run")
        assert ("machine" in schema.get("required", ())) is has_machine
        text = json.dumps(schema)
        # What some hosts' converters of schemas do not know.
        assert not [word for word in ("anyOf", "$ref", "prefixItems", '"null"') if word in text]


def test_what_they_cost_in_each_conversation_is_bounded() -> None:
    told = [(tool.name, tool.description, tool.input_schema) for tool in descriptions()]
    # Some 5,400 tokens.
    assert len(json.dumps(told)) + len(INSTRUCTIONS) < 22_500


def test_hints_say_what_only_looks() -> None:
    hints = {tool.name: tool.annotations for tool in descriptions()}
    reading = {name for name, hint in hints.items() if hint and hint.read_only_hint}
    assert reading == {
        *("list_machines", "screenshot", "zoom", "cursor_position", "wait_for", "clipboard_read"),
        *("find_elements", "read_texts", "get_run"),
    }
    for name, hint in hints.items():
        assert hint is not None
        assert hint.title
        assert hint.idempotent_hint is (name in reading)
        assert not (hint.destructive_hint and hint.read_only_hint)
    careful = hints["left_click"]
    assert careful is not None
    assert careful.destructive_hint


def test_every_operation_that_a_model_may_want_is_named_for_several_actions() -> None:
    (actions,) = (tool for tool in descriptions() if tool.name == "actions")
    operations = {
        name
        for kind in AnyAction.__args__
        for name in kind.model_fields["operation"].annotation.__args__
    }
    for operation in operations - {"screenshot"}:
        assert operation in (actions.description or ""), operation


def tools_table() -> str:
    """The table of the page about the tools."""
    scopes = {(row.method, row.path): row.scope for row in TABLE}
    needed = {pair.tool: scopes[pair.method, pair.path.partition("?")[0]] for pair in PAIRS}
    rows = []
    for name, tool in TOOLS.items():
        arguments = ", ".join(
            f"`{field}`" if about.is_required() else f"[`{field}`]"
            for field, about in tool.model_fields.items()
            if field not in ("machine", "idempotency_key")
        )
        told = " ".join((tool.__doc__ or "").split()).partition(". ")[0].removesuffix(".")
        rows.append(f"| `{name}` | {arguments} | {told}. | `{needed[name]}` |")
    return "\n".join(rows)


def test_page_has_every_tool_as_it_is() -> None:
    assert tools_table() in PAGE.read_text()


def test_page_has_every_host_and_bound_as_it_is() -> None:
    text = PAGE.read_text()
    for host in HOSTS:
        assert f"| {host.name} | `{host.member}` |" in text
    assert text.count("| in `_meta` |") == 1
    assert f"at most {MAX_BODY_BYTES // 1024} KiB" in text
    assert f"at most {LONGEST:,} pixels" in text
