"""The route table: every address of the service, once."""

from schemas.link.messages import CONNECT_PATH
from server.api.audit import AuditExportHandler, AuditHandler
from server.api.console import (
    ConsoleFileHandler,
    ConsoleHandler,
    ConsolePageHandler,
    SessionHandler,
)
from server.api.documentation import (
    ApiPageHandler,
    HomeHandler,
    OpenApiHandler,
    ProblemHandler,
    SiteHandler,
)
from server.api.events import EventsHandler
from server.api.fleet.bulk import BulkHandler
from server.api.fleet.expected_offline import ExpectedOfflineHandler
from server.api.fleet.pools import PoolHandler, PoolsHandler
from server.api.health import LiveHandler, ReadyHandler
from server.api.help import AnswerHelpHandler, HelpHandler, HelpsHandler, WithdrawHelpHandler
from server.api.looks.elements import ElementsHandler
from server.api.looks.screen import (
    DimensionsHandler,
    PointerHandler,
    ScreenshotHandler,
    StreamHandler,
)
from server.api.looks.texts import TextsHandler
from server.api.looks.waiting import WaitHandler
from server.api.machines import inputs
from server.api.machines.actions import ActionsHandler
from server.api.machines.clipboard import ClipboardHandler
from server.api.machines.commands import (
    CommandHandler,
    MachineCommandHandler,
    MachineCommandsHandler,
)
from server.api.machines.connect import ConnectHandler
from server.api.machines.control import ControlHandler, ControlRequestHandler, LeaseHandler
from server.api.machines.hand import HandHandler
from server.api.machines.invitations import (
    InvitationHandler,
    InvitationsHandler,
    JoinHandler,
    JoinsHandler,
)
from server.api.machines.machines import (
    MachineHandler,
    MachinesHandler,
    RotateHandler,
    TroubleHandler,
)
from server.api.machines.recordings import (
    MachineRecordingsHandler,
    RecordingHandler,
    RecordingsHandler,
    SecretRecordingHandler,
    StopRecordingHandler,
)
from server.api.mcp import McpHandler
from server.api.metrics import MetricsHandler
from server.api.organizations import OrganizationsHandler
from server.api.runs.bulk import BulkRunsHandler
from server.api.runs.runs import (
    CancelRunHandler,
    ContinueRunHandler,
    RetryRunHandler,
    RunHandler,
    RunsHandler,
)
from server.api.sessions import OneSessionHandler, SessionsHandler
from server.api.tokens import TokenHandler, TokensHandler
from server.api.trajectories.export import ExportHandler
from server.api.trajectories.importing import ImportHandler
from server.api.trajectories.pictures import PictureHandler, PicturesHandler
from server.api.trajectories.reviews import ReviewHandler
from server.api.trajectories.steps import StepHandler, StepsHandler
from server.api.trajectories.trajectories import (
    DuplicateHandler,
    LatestTrajectoryHandler,
    TrajectoriesHandler,
    TrajectoryHandler,
)
from server.api.trajectories.workflows import WorkflowHandler, WorkflowsHandler
from server.api.webhooks import (
    DeliveriesHandler,
    ResendHandler,
    WebhookHandler,
    WebhookRotateHandler,
    WebhooksHandler,
    WebhookTestHandler,
)
from server.web.routing import Route

INPUT = "/v1/computer/{machine_id}/input"
DISPLAY = "/v1/computer/{machine_id}/display"

# The first that fits is taken: the inputs come first because they are asked for most, and
# addresses of their own before those that would take them for an id.
ROUTES = (
    Route(f"{INPUT}/mouse/move", inputs.MoveMouseHandler),
    Route(f"{INPUT}/mouse/click", inputs.ClickMouseHandler),
    Route(f"{INPUT}/mouse/drag", inputs.DragMouseHandler),
    Route(f"{INPUT}/mouse/scroll", inputs.ScrollMouseHandler),
    Route(f"{INPUT}/keyboard/key", inputs.PressKeysHandler),
    Route(f"{INPUT}/keyboard/type", inputs.TypeTextHandler),
    Route(f"{INPUT}/element/invoke", inputs.InvokeElementHandler),
    Route(f"{INPUT}/element/set_value", inputs.SetElementValueHandler),
    Route(f"{INPUT}/element/focus", inputs.FocusElementHandler),
    Route(f"{INPUT}/mouse/position", PointerHandler),
    Route("/v1/computer/{machine_id}/actions", ActionsHandler),
    Route("/v1/computer/{machine_id}/wait", WaitHandler),
    Route("/v1/computer/{machine_id}/display/texts", TextsHandler),
    Route("/v1/computer/{machine_id}/clipboard", ClipboardHandler),
    Route("/v1/computer/{machine_id}/elements", ElementsHandler),
    Route(f"{DISPLAY}/screenshot", ScreenshotHandler),
    Route(f"{DISPLAY}/stream", StreamHandler),
    Route(f"{DISPLAY}/dimensions", DimensionsHandler),
    Route("/v1/trajectories", TrajectoriesHandler),
    Route("/v1/trajectories/export", ExportHandler),
    Route("/v1/trajectories/import", ImportHandler),
    Route("/v1/trajectories/{trajectory_id}", TrajectoryHandler),
    Route("/v1/trajectories/{trajectory_id}/steps", StepsHandler),
    Route("/v1/trajectories/{trajectory_id}/steps/{number}", StepHandler),
    Route("/v1/trajectories/{trajectory_id}/review", ReviewHandler),
    Route("/v1/trajectories/{trajectory_id}/duplicate", DuplicateHandler),
    Route("/v1/pictures", PicturesHandler),
    Route("/v1/pictures/{picture_id}", PictureHandler),
    Route("/v1/workflows", WorkflowsHandler),
    Route("/v1/workflows/{workflow_id}", WorkflowHandler),
    Route("/v1/workflows/{workflow_id}/latest-trajectory", LatestTrajectoryHandler),
    Route(CONNECT_PATH, ConnectHandler),
    Route("/v1/machines", MachinesHandler),
    Route("/v1/machines/bulk", BulkHandler),
    Route("/v1/machines/{machine_id}", MachineHandler),
    Route("/v1/machines/{machine_id}/control", ControlHandler),
    Route("/v1/machines/{machine_id}/control/request", ControlRequestHandler),
    Route("/v1/machines/{machine_id}/control/{lease}", LeaseHandler),
    Route("/v1/machines/{machine_id}/control/{lease}/hand", HandHandler),
    Route("/v1/machines/{machine_id}/rotate", RotateHandler),
    Route("/v1/machines/{machine_id}/trouble", TroubleHandler),
    Route("/v1/machines/{machine_id}/expected-offline", ExpectedOfflineHandler),
    Route("/v1/machines/{machine_id}/recordings", MachineRecordingsHandler),
    Route("/v1/machines/{machine_id}/commands", MachineCommandsHandler),
    Route("/v1/machines/{machine_id}/commands/{command_id}", MachineCommandHandler),
    Route("/v1/commands/{command_id}", CommandHandler),
    Route("/v1/recordings", RecordingsHandler),
    Route("/v1/recordings/{recording_id}", RecordingHandler),
    Route("/v1/recordings/{recording_id}/stop", StopRecordingHandler),
    Route("/v1/recordings/{recording_id}/secret", SecretRecordingHandler),
    Route("/v1/help", HelpsHandler),
    Route("/v1/help/{help_id}", HelpHandler),
    Route("/v1/help/{help_id}/answer", AnswerHelpHandler),
    Route("/v1/help/{help_id}/withdraw", WithdrawHelpHandler),
    Route("/v1/runs", RunsHandler),
    Route("/v1/runs/bulk", BulkRunsHandler),
    Route("/v1/runs/{run_id}", RunHandler),
    Route("/v1/runs/{run_id}/cancel", CancelRunHandler),
    Route("/v1/runs/{run_id}/continue", ContinueRunHandler),
    Route("/v1/runs/{run_id}/retry", RetryRunHandler),
    Route("/v1/pools", PoolsHandler),
    Route("/v1/pools/{pool_id}", PoolHandler),
    Route("/v1/invitations", InvitationsHandler),
    Route("/v1/invitations/{invitation_id}", InvitationHandler),
    Route("/v1/invitations/{invitation_id}/joins", JoinsHandler),
    Route("/v1/invitations/{invitation_id}/joins/{join_id}", JoinHandler),
    Route("/v1/webhooks", WebhooksHandler),
    Route("/v1/webhooks/{webhook_id}", WebhookHandler),
    Route("/v1/webhooks/{webhook_id}/rotate", WebhookRotateHandler),
    Route("/v1/webhooks/{webhook_id}/test", WebhookTestHandler),
    Route("/v1/webhooks/{webhook_id}/deliveries", DeliveriesHandler),
    Route("/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/resend", ResendHandler),
    Route("/v1/events", EventsHandler),
    Route("/v1/audit", AuditHandler),
    Route("/v1/audit/export", AuditExportHandler),
    Route("/v1/organizations", OrganizationsHandler),
    Route("/v1/tokens", TokensHandler),
    Route("/v1/tokens/{token_id}", TokenHandler),
    Route("/v1/sessions", SessionsHandler),
    Route("/v1/sessions/{session_id}", OneSessionHandler),
    Route("/console", ConsoleHandler),
    Route("/console/", ConsolePageHandler),
    Route("/console/session", SessionHandler),
    Route("/console/static/{version}/{path}", ConsoleFileHandler, deep=True),
    Route("/", HomeHandler),
    Route("/docs", ApiPageHandler),
    Route("/docs/{path}", SiteHandler, deep=True),
    Route("/openapi.json", OpenApiHandler),
    Route("/problems/{name}", ProblemHandler),
    Route("/mcp", McpHandler),
    Route("/metrics", MetricsHandler),
    Route("/healthz", LiveHandler),
    Route("/readyz", ReadyHandler),
)
