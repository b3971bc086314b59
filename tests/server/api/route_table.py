"""Every route and method with what it promises, typed by hand.

Nothing here is taken from the declarations in ``server.api``, which it is there to contradict: a
route that asks for less than before, or shows more, differs from its row.  Whoever changes a route
on purpose changes its row as well.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.values.times import format_time

ALWAYS = "internal-error malformed-request headers-too-large"
FOR_ANY_TOKEN = "unauthenticated cross-site-request server-stopping storage-unavailable"
FOR_A_SCOPE = "forbidden"
FOR_A_BODY = "body-too-large unsupported-media-type server-busy"

OF_INPUTS = (
    "not-found idempotency-key-in-progress control-ended recording-ended machine-busy "
    "machine-unavailable "
    "not-carried-out input-failed outcome-unknown input-expired outcome-pending"
)
OF_INPUTS_BY_ELEMENT = f"{OF_INPUTS} no-elements element-missing element-ambiguous"
OF_SCREENS = "not-found machine-busy machine-unavailable"

PUBLIC = "public"
ANY_TOKEN = "any token"
OTHERS_404 = "404"
ITS_OWN = "its own"


@dataclass(frozen=True)
class Row:
    """One method of one route.

    ``scope`` is the one that it needs, and no other will do; or PUBLIC, or ANY_TOKEN; ``also`` is
    a second one, without which it is refused.  ``status`` is the answer to a right request in a
    world where no machine is connected.  What of another organization is named in the path is
    OTHERS_404; where nothing is named, a caller sees or makes ITS_OWN; "" is what belongs to
    nobody.  ``problems`` are those beside the ones for each token, scope and body.
    """

    method: str
    path: str
    scope: str
    status: int
    border: str = ""
    problems: str = ""
    body: dict[str, Any] | None = None
    content: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    takes_body: bool = False
    is_endless: bool = False
    also: str = ""

    @property
    def all_problems(self) -> set[str]:
        """The names of every problem that it may answer with."""
        names = f"{ALWAYS} {self.problems}"
        if self.scope != PUBLIC:
            names += f" {FOR_ANY_TOKEN}"
        if self.scope not in (PUBLIC, ANY_TOKEN):
            names += f" {FOR_A_SCOPE}"
        if self.takes_body:
            names += f" {FOR_A_BODY}"
        return set(names.split())


def _input(path: str, body: dict[str, Any]) -> Row:
    names_elements = path.startswith(("mouse", "element"))
    return Row(
        "POST",
        f"/v1/computer/{{machine_id}}/input/{path}",
        "input:send",
        503,
        OTHERS_404,
        OF_INPUTS_BY_ELEMENT if names_elements else OF_INPUTS,
        body=body,
        takes_body=True,
        also="screen:read" if path.startswith("element") else "",
    )


PNG = b"\x89PNG\r\n\x1a\n" + b"p" * 100
TRAJECTORY = {
    "workflow_id": "00000000-0000-4000-8000-00000000000c",
    "dimensions": {"width": 1, "height": 1},
    "trajectory_data": [{}],
}
OF_THE_CONSOLE = {"Farhand-Console": "1", "Sec-Fetch-Site": "same-origin"}

# fmt: off
TABLE = (
    _input("mouse/move", {"x": 1, "y": 1}),
    _input("mouse/click", {}),
    _input("mouse/drag", {"start_x": 1, "start_y": 1, "to_x": 2, "to_y": 2}),
    _input("mouse/scroll", {"direction": "up", "amount": 1}),
    _input("keyboard/key", {"text": "a"}),
    _input("keyboard/type", {"text": "a"}),
    _input("element/invoke", {"element": {"name": "a"}}),
    _input("element/set_value", {"element": {"name": "a"}, "value": "b"}),
    _input("element/focus", {"element": {"name": "a"}}),
    Row("POST", "/v1/computer/{machine_id}/actions", "input:send", 503, OTHERS_404,
        f"{OF_INPUTS} actions-stopped no-elements not-installed",
        body={"actions": [{"operation": "mouse.click"}]}, takes_body=True),
    Row("POST", "/v1/computer/{machine_id}/wait", "screen:read", 503, OTHERS_404,
        f"{OF_SCREENS} too-many-streams no-elements not-installed",
        body={"any": [{"still": 1}]}, takes_body=True),
    Row("GET", "/v1/computer/{machine_id}/display/texts", "screen:read", 503, OTHERS_404,
        f"{OF_SCREENS} not-installed"),
    Row("GET", "/v1/computer/{machine_id}/input/mouse/position", "screen:read", 503, OTHERS_404,
        OF_SCREENS),
    Row("GET", "/v1/computer/{machine_id}/clipboard", "clipboard", 503, OTHERS_404,
        f"{OF_SCREENS} clipboard-unreadable"),
    Row("GET", "/v1/computer/{machine_id}/elements", "screen:read", 503, OTHERS_404,
        f"{OF_SCREENS} no-elements too-many-streams"),
    Row("PUT", "/v1/computer/{machine_id}/clipboard", "clipboard", 503, OTHERS_404, OF_INPUTS,
        body={"text": "a"}, takes_body=True),
    Row("GET", "/v1/computer/{machine_id}/display/screenshot", "screen:read", 503, OTHERS_404,
        OF_SCREENS),
    Row("GET", "/v1/computer/{machine_id}/display/stream", "screen:read", 503, OTHERS_404,
        f"{OF_SCREENS} too-many-streams"),
    Row("GET", "/v1/computer/{machine_id}/display/dimensions", "screen:read", 503, OTHERS_404,
        OF_SCREENS),
    Row("GET", "/v1/trajectories", "trajectories:read", 200, ITS_OWN, "too-many-streams"),
    Row("POST", "/v1/trajectories", "trajectories:write", 201, ITS_OWN, "already-exists",
        body=TRAJECTORY, takes_body=True),
    Row("GET", "/v1/trajectories/export", "trajectories:read", 200, ITS_OWN, "too-many-streams"),
    Row("POST", "/v1/trajectories/import", "trajectories:write", 200, ITS_OWN,
        content=b"wrong\n", headers={"Content-Type": "application/x-ndjson"}, takes_body=True),
    Row("GET", "/v1/trajectories/{trajectory_id}", "trajectories:read", 200, OTHERS_404,
        "not-found too-many-streams"),
    Row("PATCH", "/v1/trajectories/{trajectory_id}", "trajectories:write", 200, OTHERS_404,
        "not-found wrong-state precondition-failed", body={"name": "n"}, takes_body=True),
    Row("DELETE", "/v1/trajectories/{trajectory_id}", "trajectories:write", 204, OTHERS_404,
        "not-found precondition-failed"),
    Row("POST", "/v1/trajectories/{trajectory_id}/steps", "trajectories:write", 200, OTHERS_404,
        "not-found wrong-state precondition-failed", body={"steps": [{}]}, takes_body=True),
    Row("GET", "/v1/trajectories/{trajectory_id}/steps", "trajectories:read", 200, OTHERS_404,
        "not-found wrong-state too-many-streams"),
    Row("GET", "/v1/trajectories/{trajectory_id}/steps/{number}", "trajectories:read", 200,
        OTHERS_404, "not-found wrong-state"),
    Row("PATCH", "/v1/trajectories/{trajectory_id}/steps/{number}", "trajectories:write", 409,
        OTHERS_404, "not-found wrong-state precondition-failed", body={"name": "n"},
        takes_body=True),
    Row("DELETE", "/v1/trajectories/{trajectory_id}/steps/{number}", "trajectories:write", 200,
        OTHERS_404, "not-found wrong-state precondition-failed"),
    Row("POST", "/v1/trajectories/{trajectory_id}/review", "trajectories:approve", 409, OTHERS_404,
        "not-found wrong-state precondition-failed",
        body={"decision": "approve", "content_hash": "0" * 64}, takes_body=True),
    Row("POST", "/v1/trajectories/{trajectory_id}/duplicate", "trajectories:write", 201, OTHERS_404,
        "not-found", body={}, takes_body=True),
    Row("GET", "/v1/pictures", "trajectories:read", 200, ITS_OWN),
    Row("POST", "/v1/pictures", "trajectories:write", 201, ITS_OWN,
        content=PNG, headers={"Content-Type": "image/png"}, takes_body=True),
    Row("GET", "/v1/pictures/{picture_id}", "trajectories:read", 200, OTHERS_404,
        "not-found too-many-streams"),
    Row("DELETE", "/v1/pictures/{picture_id}", "trajectories:write", 204, OTHERS_404, "not-found"),
    Row("GET", "/v1/workflows", "trajectories:read", 200, ITS_OWN, "too-many-streams"),
    Row("POST", "/v1/workflows", "trajectories:write", 201, ITS_OWN,
        body={"name": "n"}, takes_body=True),
    Row("GET", "/v1/workflows/{workflow_id}", "trajectories:read", 200, OTHERS_404, "not-found"),
    Row("PATCH", "/v1/workflows/{workflow_id}", "trajectories:write", 200, OTHERS_404,
        "not-found precondition-failed", body={"name": "n"}, takes_body=True),
    Row("DELETE", "/v1/workflows/{workflow_id}", "trajectories:write", 204, OTHERS_404,
        "not-found in-use precondition-failed"),
    Row("GET", "/v1/workflows/{workflow_id}/latest-trajectory", "trajectories:read", 200,
        OTHERS_404, "not-found too-many-streams"),
    Row("GET", "/v1/machines/connect", "machine:connect", 426,
        problems="websocket-required awaiting-approval"),
    Row("POST", "/v1/machines/bulk", "machines:write", 200, ITS_OWN,
        body={"machine_ids": ["x"], "action": "pause"}, takes_body=True),
    Row("GET", "/v1/pools", "machines:read", 200, ITS_OWN),
    Row("POST", "/v1/pools", "pools:write", 201, ITS_OWN, "already-exists wrong-state",
        body={"name": "x"}, takes_body=True),
    Row("GET", "/v1/pools/{pool_id}", "machines:read", 200, OTHERS_404, "not-found"),
    Row("PATCH", "/v1/pools/{pool_id}", "pools:write", 200, OTHERS_404,
        "not-found already-exists", body={"description": "x"}, takes_body=True),
    Row("DELETE", "/v1/pools/{pool_id}", "pools:write", 204, OTHERS_404, "not-found"),
    Row("GET", "/v1/webhooks", "webhooks:write", 200, ITS_OWN),
    Row("POST", "/v1/webhooks", "webhooks:write", 201, ITS_OWN, "wrong-state",
        body={"url": "https://example.com", "events": ["machine_offline"]}, takes_body=True),
    Row("GET", "/v1/webhooks/{webhook_id}", "webhooks:write", 200, OTHERS_404, "not-found"),
    Row("PATCH", "/v1/webhooks/{webhook_id}", "webhooks:write", 200, OTHERS_404, "not-found",
        body={}, takes_body=True),
    Row("DELETE", "/v1/webhooks/{webhook_id}", "webhooks:write", 204, OTHERS_404, "not-found"),
    Row("POST", "/v1/webhooks/{webhook_id}/rotate", "webhooks:write", 200, OTHERS_404, "not-found",
        body={}, takes_body=True),
    Row("POST", "/v1/webhooks/{webhook_id}/test", "webhooks:write", 202, OTHERS_404, "not-found"),
    Row("GET", "/v1/webhooks/{webhook_id}/deliveries", "webhooks:write", 200, OTHERS_404,
        "not-found"),
    Row("POST", "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/resend", "webhooks:write", 202,
        OTHERS_404, "not-found"),
    Row("GET", "/v1/invitations", "pools:write", 200, ITS_OWN),
    Row("POST", "/v1/invitations", "pools:write", 201, ITS_OWN, body={}, takes_body=True),
    Row("GET", "/v1/invitations/{invitation_id}", "pools:write", 200, OTHERS_404, "not-found"),
    Row("DELETE", "/v1/invitations/{invitation_id}", "pools:write", 204, OTHERS_404, "not-found"),
    Row("GET", "/v1/invitations/{invitation_id}/joins", "pools:write", 200, OTHERS_404,
        "not-found"),
    Row("PATCH", "/v1/invitations/{invitation_id}/joins/{join_id}", "pools:write", 200, OTHERS_404,
        "not-found", body={"approved": False}, takes_body=True),
    Row("POST", "/v1/machines/{machine_id}/rotate", "machines:write", 503, OTHERS_404,
        "not-found machine-unavailable"),
    Row("GET", "/v1/machines/{machine_id}/trouble", "machines:read", 200, OTHERS_404, "not-found"),
    Row("PUT", "/v1/machines/{machine_id}/expected-offline", "machines:write", 200, OTHERS_404,
        "not-found", body={"until": format_time(datetime.now(UTC) + timedelta(days=1))},
        takes_body=True),
    Row("GET", "/v1/machines/{machine_id}/expected-offline", "machines:read", 404, OTHERS_404,
        "not-found"),
    Row("DELETE", "/v1/machines/{machine_id}/expected-offline", "machines:write", 204, OTHERS_404,
        "not-found"),
    Row("GET", "/v1/machines", "machines:read", 200, ITS_OWN),
    Row("POST", "/v1/machines", "machines:write", 201, ITS_OWN, "already-exists",
        body={}, takes_body=True),
    Row("GET", "/v1/machines/{machine_id}", "machines:read", 200, OTHERS_404, "not-found"),
    Row("PATCH", "/v1/machines/{machine_id}", "machines:write", 200, OTHERS_404, "not-found",
        body={"name": "n"}, takes_body=True),
    Row("DELETE", "/v1/machines/{machine_id}", "machines:write", 204, OTHERS_404, "not-found"),
    Row("POST", "/v1/machines/{machine_id}/control", "machines:control", 503, OTHERS_404,
        "not-found control-held control-ended machine-unavailable",
        takes_body=True),
    Row("POST", "/v1/machines/{machine_id}/control/request", "machines:control", 409, OTHERS_404,
        "not-found control-free", takes_body=True),
    Row("PUT", "/v1/machines/{machine_id}/control/{lease}", "machines:control", 409, OTHERS_404,
        "not-found control-ended"),
    Row("PATCH", "/v1/machines/{machine_id}/control/{lease}", "machines:control", 409, OTHERS_404,
        "not-found control-ended machine-unavailable", body={"private": True}, takes_body=True),
    Row("DELETE", "/v1/machines/{machine_id}/control/{lease}", "machines:control", 409,
        OTHERS_404, "not-found control-ended"),
    Row("GET", "/v1/machines/{machine_id}/control/{lease}/hand", "input:send", 426,
        OTHERS_404, "not-found websocket-required"),
    Row("POST", "/v1/machines/{machine_id}/recordings", "recordings:write", 503, OTHERS_404,
        "not-found wrong-state machine-unavailable", takes_body=True, also="screen:read"),
    Row("GET", "/v1/recordings", "machines:read", 200, ITS_OWN),
    Row("GET", "/v1/recordings/{recording_id}", "machines:read", 200, OTHERS_404, "not-found"),
    Row("POST", "/v1/recordings/{recording_id}/stop", "recordings:write", 200, OTHERS_404,
        "not-found"),
    Row("GET", "/v1/runs", "runs:read", 200, ITS_OWN),
    Row("POST", "/v1/runs", "runs:write", 404, problems="not-found wrong-state",
        body={"workflow_id": TRAJECTORY["workflow_id"], "machine_id": "nowhere"}, takes_body=True),
    Row("POST", "/v1/runs/bulk", "runs:write", 200, ITS_OWN, takes_body=True,
        body={"items": [{"workflow_id": TRAJECTORY["workflow_id"], "machine_id": "nowhere"}]}),
    Row("GET", "/v1/runs/{run_id}", "runs:read", 200, OTHERS_404, "not-found"),
    Row("POST", "/v1/runs/{run_id}/cancel", "runs:write", 200, OTHERS_404,
        "not-found wrong-state"),
    Row("POST", "/v1/runs/{run_id}/continue", "runs:write", 409, OTHERS_404,
        "not-found wrong-state machine-unavailable machine-busy no-elements", takes_body=True),
    Row("POST", "/v1/runs/{run_id}/retry", "runs:write", 409, OTHERS_404,
        "not-found wrong-state", takes_body=True),
    Row("POST", "/v1/recordings/{recording_id}/secret", "recordings:write", 503, OTHERS_404,
        "not-found wrong-state machine-unavailable", body={"on": True}, takes_body=True),
    Row("GET", "/v1/help", "machines:read", 200, ITS_OWN),
    Row("POST", "/v1/help", "input:send", 404, problems="not-found wrong-state",
        body={"machine_id": "nowhere", "kind": "help", "reason": "r"}, takes_body=True),
    Row("GET", "/v1/help/{help_id}", "machines:read", 200, OTHERS_404,
        "not-found too-many-streams"),
    Row("POST", "/v1/help/{help_id}/answer", "help:answer", 200, OTHERS_404,
        "not-found wrong-state", body={"answer": "done"}, takes_body=True),
    Row("POST", "/v1/help/{help_id}/withdraw", "input:send", 403, OTHERS_404,
        "not-found wrong-state"),
    Row("GET", "/v1/machines/{machine_id}/commands", "machines:read", 200, OTHERS_404,
        "not-found"),
    Row("GET", "/v1/machines/{machine_id}/commands/{command_id}", "input:send", 200, OTHERS_404,
        "not-found"),
    Row("GET", "/v1/commands/{command_id}", "input:send", 200, OTHERS_404, "not-found"),
    Row("GET", "/v1/events", "machines:read", 200, problems="not-found too-many-streams",
        is_endless=True),
    Row("GET", "/v1/audit", "audit:read", 200, ITS_OWN),
    Row("GET", "/v1/audit/export", "audit:read", 200, ITS_OWN, problems="too-many-streams"),
    Row("GET", "/v1/organizations", "organizations:write", 200, ITS_OWN),
    Row("POST", "/v1/organizations", "organizations:write", 201, ITS_OWN,
        body={"name": "n"}, takes_body=True),
    Row("GET", "/v1/tokens", "tokens:write", 200, ITS_OWN),
    Row("POST", "/v1/tokens", "tokens:write", 201, ITS_OWN, "not-found",
        body={"name": "n", "scopes": ["tokens:write"]}, takes_body=True),
    Row("GET", "/v1/tokens/{token_id}", "tokens:write", 200, OTHERS_404, "not-found"),
    Row("DELETE", "/v1/tokens/{token_id}", "tokens:write", 204, OTHERS_404, "not-found"),
    Row("GET", "/v1/sessions", "tokens:write", 200, ITS_OWN),
    Row("DELETE", "/v1/sessions/{session_id}", "tokens:write", 204, OTHERS_404, "not-found"),
    Row("POST", "/mcp", ANY_TOKEN, 200, problems="not-installed", takes_body=True,
        body={"jsonrpc": "2.0", "id": 1, "method": "ping"}),
    Row("GET", "/console", PUBLIC, 302),
    Row("GET", "/console/", PUBLIC, 200),
    Row("GET", "/console/session", ANY_TOKEN, 200),
    Row("POST", "/console/session", PUBLIC, 401,
        problems="unauthenticated forbidden cross-site-request storage-unavailable",
        body={"token": "fh_unknown"}, headers=OF_THE_CONSOLE, takes_body=True),
    Row("DELETE", "/console/session", PUBLIC, 204,
        problems="cross-site-request storage-unavailable"),
    Row("GET", "/console/static/{version}/{path}", PUBLIC, 404, problems="not-found"),
    Row("GET", "/", PUBLIC, 200),
    Row("GET", "/docs", PUBLIC, 200),
    Row("GET", "/docs/{path}", PUBLIC, 404, problems="not-found"),
    Row("GET", "/openapi.json", PUBLIC, 200),
    Row("GET", "/problems/{name}", PUBLIC, 404, problems="not-found"),
    Row("GET", "/metrics", "metrics:read", 200),
    Row("GET", "/healthz", PUBLIC, 200),
    Row("GET", "/readyz", PUBLIC, 200, problems="storage-unavailable server-stopping"),
)
