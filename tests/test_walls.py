"""The rooms and their walls: who imports whom, and that every source file has its test file.

The imports are read from the source text, those inside functions included, so that nothing hides.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from tornado.web import RequestHandler

from server.cli import COMMANDS
from server.web.endpoint import endpoints_of

PROJECT = Path(__file__).parent.parent
ROOMS = {
    "schemas": "schemas",
    "server": "server",
    "machine_client": "machine_client",
    "farhand": "client/farhand",
}
"""Where each of our packages is."""

WALLS = {
    # The common language knows neither side.
    "schemas": {"schemas"},
    # The two sides know each other by the wire alone.
    "machine_client": {"machine_client", "schemas"},
    "server": {"server", "schemas", "farhand"},
    # It knows the API as anyone does: by its documents.
    "farhand": {"farhand"},
    # What models do is made of what any program has; the tables and the turns reach for no network.
    "farhand._models": {"farhand._models", "farhand.actions", "farhand.types"},
    "farhand.models": {
        *("farhand.models", "farhand._models.errors"),
        *("farhand._async.models", "farhand._sync.models"),
    },
    # api, then dispatch, then machines, then store: nobody looks back up.
    "server.store": {
        *("server.store", "server.errors", "server.tasks", "schemas"),
        "server.programs.installing",
        "server.programs.embedded_program",
    },
    # What trajectories may become, above the store and below the handlers; it knows no MongoDB.
    # What is encrypted at rest: the keys, what they encrypt, and nobody who has it.
    "server.secrets": {"server.secrets", "server.store.secret_keys", "server.errors"},
    # One step of a run, on whichever node its machine's link is.
    "server.runs.finding": {
        *("server.runs.finding", "server.runs.asking", "server.vision.findings", "schemas"),
        *("server.dispatch.questions", "server.dispatch.refusals"),
        "server.dispatch.here.neighbours",
    },
    "server.runs.values": {"schemas"},
    "server.trajectories": {
        *("server.trajectories", "server.store.trajectories", "server.store.transactions"),
        *("server.store.idempotency", "server.errors", "server.store.times"),
        *("server.store.versions", "server.store.picture_rounds", "schemas"),
    },
    "server.api.trajectories": {
        *("server.api", "server.web", "server.dispatch", "server.trajectories"),
        *("server.errors", "schemas"),
    },
    "server.bus": {"server.bus", "server.tasks", "server.programs", "schemas"},
    "server.events": {
        *("server.events", "server.bus", "server.store.event_log", "server.errors"),
        *("server.store.retrying", "server.tasks", "schemas"),
    },
    "server.machines": {
        *("server.machines", "server.store", "server.errors", "server.clock", "server.tasks"),
        *("server.events", "server.process.node"),
        # What their screens show.
        "server.vision",
        "schemas",
    },
    # What is seen in pictures, whoever asks; its program is a process of its own.
    "server.vision": {"server.vision", "server.programs", "server.tasks", "schemas"},
    "server.vision.vision": {
        *("server.vision.findings", "server.vision.process", "server.vision.queue"),
        *("server.programs.installing", "server.tasks", "schemas"),
    },
    "server.dispatch": {
        *("server.dispatch", "server.machines", "server.bus", "server.store", "server.events"),
        *("server.errors", "server.clock", "server.tasks", "server.metrics"),
        *("server.process.error_frames", "server.versions", "server.vision", "schemas"),
    },
    # What may become of machines, above the door and below the handlers.
    "server.fleet": {
        *("server.fleet", "server.dispatch", "server.identity", "server.store", "schemas"),
        *("server.errors", "server.clock", "server.versions"),
    },
    # What is done again on machines: above the door, people and trajectories, below the handlers.
    "server.runs": {
        *("server.runs", "server.dispatch", "server.store", "server.secrets"),
        *(f"server.fleet.{name}" for name in ("help", "lasting_rights", "reach")),
        *("server.identity.authentication", "server.errors"),
        *(f"server.trajectories.{name}" for name in ("running", "repairing", "editing")),
        *("server.clock", "server.tasks", "server.vision.findings", "schemas"),
    },
    # What is posted to webhooks: rules above the store, and below the handlers.
    "server.webhooks": {
        *("server.webhooks", "server.fleet.pools", "server.store", "server.errors"),
        *("server.tasks", "schemas"),
    },
    "server.identity": {
        *("server.identity", "server.store", "server.tasks", "server.settings", "schemas"),
    },
    "server.web": {
        *("server.web", "server.services", "server.identity", "server.store", "server.console"),
        *("server.errors", "server.tasks", "server.settings", "server.process.error_frames"),
        *("server.process.long_answers", "server.process.throttle", "schemas"),
        # What makes two requests with one key the same, for inputs and for all that is stored.
        "server.dispatch.fingerprints",
    },
    "server.nodes": {
        *("server.nodes", "server.process.node", "server.store.presence", "server.errors"),
        # A node that ends moves its links to the others.
        *("server.machines.registry", "server.machines.socket", "schemas"),
    },
    "server.process.node": set(),
    "server.services": {
        *("server.bus", "server.process.node", "server.nodes"),
        *("server.dispatch", "server.fleet", "server.identity", "server.machines", "server.store"),
        *("server.process", "server.console", "server.settings", "server.tasks"),
        *("server.events", "server.metrics", "server.trajectories", "server.webhooks"),
        *("server.vision", "server.runs", "server.secrets"),
    },
    # Handlers ask the rooms of rules; what is stored, and how, is none of their business.
    "server.api": {
        *("server.api", "server.web", "server.services", "server.identity", "server.dispatch"),
        *("server.machines", "server.console", "server.settings", "server.errors", "schemas"),
        *("server.clock", "server.events", "server.metrics", "server.trajectories"),
        *("server.mcp", "server.vision"),
    },
    "server.console": {"server.console"},
    # Tools for models stand on the client library, wherever they run.
    "server.mcp": {"server.mcp", "farhand", "schemas"},
    # The command line: most of it calls a server from outside, and three commands run one.
    "server.cli": {
        *("server.cli", "farhand", "server.data_directory", "server.tasks", "schemas"),
        "server.mcp",
        *("server.app", "server.foundation", "server.process", "server.settings", "server.demo"),
        *("server.errors", "server.store.embedded_mongod"),
        *("server.store.mongodb.database", "server.bus.nats_bus", "server.workers"),
    },
    # The parent of several nodes stays light: it knows what they stand on, and not the nodes.
    "server.workers": {
        *("server.workers", "server.foundation", "server.settings", "server.process"),
        *("server.bus.nats_server", "server.programs", "server.errors", "server.tasks"),
        "schemas",
    },
    # The demo starts the programs as a person would, and calls them over HTTP.
    "server.demo": {
        *("server.demo", "farhand", "server.data_directory", "server.settings"),
        *("server.programs", "schemas"),
    },
    # Settings, clock, tasks and the log's format are everybody's, and know nobody.
    "server.clock": {"schemas"},
    "server.versions": set(),
    "server.settings": {"server.data_directory", "schemas"},
    "server.tasks": {"schemas.programs.pauses"},
    "server.process": {"server.process", "schemas"},
    "server.programs": {"server.programs", "server.process.bounded_log", "schemas"},
    "server.data_directory": set(),
    "server.metrics": {"server.metrics", "schemas"},
    # The state machines do no I/O, so nothing that could is within their reach.
    "server.machines.link": {"server.machines.link", "schemas"},
    "machine_client.link.session": {
        *("machine_client.link.server_clock", "machine_client.link.reported_desktop"),
        *("machine_client.link.events", "machine_client.screen.sender", "schemas"),
        *("machine_client.link.clipboard", "machine_client.link.waiting"),
        "machine_client.work.orders",
    },
    "machine_client.link.waiting": {"schemas"},
    "machine_client.link.events": {
        *("machine_client.screen.sender", "machine_client.work.orders", "schemas"),
    },
    "machine_client.link.clipboard": {"machine_client.work.orders", "schemas"},
    "machine_client.link.reported_desktop": {"schemas"},
    "machine_client.screen.sender": {"schemas"},
    "machine_client.work.orders": {"schemas"},
    # What a desktop is knows no desktop; each of them knows itself, and is chosen in one place.
    "machine_client.desktop.base": {"schemas"},
    "machine_client.desktop.looks": {"machine_client.desktop.base"},
    "machine_client.desktop.keysyms": set(),
    "machine_client.desktop.held_keys": {"schemas"},
    "machine_client.desktop.clipboard_owner": {
        *("machine_client.desktop.base", "machine_client.concurrency", "schemas"),
    },
    "machine_client.desktop.accessibility": {
        *("machine_client.desktop.base", "machine_client.desktop.accessibility"),
        *("machine_client.concurrency", "schemas"),
    },
    "machine_client.desktop.x11": {
        *("machine_client.desktop.base", "machine_client.desktop.x11"),
        "machine_client.desktop.accessibility",
        *("machine_client.desktop.keysyms", "machine_client.desktop.held_keys"),
        *("machine_client.desktop.looks", "machine_client.desktop.clipboard_owner"),
        *("machine_client.system", "schemas"),
    },
    "machine_client.desktop.wayland": {
        *("machine_client.desktop.base", "machine_client.desktop.wayland"),
        "machine_client.desktop.accessibility",
        *("machine_client.desktop.keysyms", "machine_client.desktop.held_keys"),
        *("machine_client.desktop.looks", "machine_client.desktop.clipboard_owner"),
        *("machine_client.system", "schemas"),
    },
    "machine_client.desktop.windows": {
        *("machine_client.desktop.base", "machine_client.desktop.windows"),
        "machine_client.desktop.looks",
        *("machine_client.system", "schemas"),
    },
    "machine_client.desktop.vnc": {
        *("machine_client.desktop.base", "machine_client.desktop.vnc"),
        *("machine_client.desktop.looks", "machine_client.desktop.keysyms"),
        *("machine_client.concurrency", "machine_client.system", "schemas"),
    },
    "machine_client.desktop.vnc.rfb": {"machine_client.desktop.vnc.rfb"},
    "machine_client.service": {"machine_client.service", "machine_client.system"},
    "machine_client.system": {
        *("machine_client.system", "machine_client.concurrency", "schemas.programs"),
    },
    "machine_client.concurrency": {"machine_client.concurrency", "schemas.programs.pauses"},
    # What it shows has come to its window; it knows nobody, and nobody knows it.
    "machine_client.demo": {"machine_client.demo"},
    # These run against any disk, desktop and clock, those of a simulation among them.
    "machine_client.journal.journal": {"schemas"},
    "machine_client.work.worker": {
        *("machine_client.work.injector", "machine_client.work.orders"),
        *("machine_client.journal.journal", "machine_client.work.batch", "schemas"),
    },
    "machine_client.work.batch": {
        *("machine_client.work.injector", "machine_client.screen.sender"),
        *("machine_client.desktop.base", "machine_client.journal.journal", "schemas"),
    },
}
"""Which of our own modules each room, or module, may import."""

FLOORS = (
    *("concurrency", "system", "desktop", "journal", "screen", "work", "credentials"),
    *(
        "settings",
        "link",
        "service",
        "accessibility",
        "doctor",
        "joining",
        "cli",
        "__main__",
        "demo",
    ),
)
"""The rooms of the machine client; each imports those before it alone."""

FOREIGN = {
    "motor": ("server.store",),
    "pymongo": ("server.store",),
    "bson": ("server.store",),
    "nats": ("server.bus",),
    "pynput": ("machine_client.desktop.x11", "machine_client.desktop.windows.sending"),
    "mss": ("machine_client.desktop.x11", "machine_client.desktop.windows.view"),
    "PIL": (
        *("machine_client.screen.encoding", "machine_client.screen.stillness"),
        "server.dispatch.recording.painting",
    ),
    # The demo's window draws with it what arrives at the virtual desktop.
    "dbus_fast": ("machine_client.desktop.accessibility",),
    "Xlib": ("machine_client.desktop.x11", "machine_client.demo"),
    "websockets": (
        *("machine_client.link", "machine_client.doctor.network_check"),
        "machine_client.doctor.handshake_failures",
    ),
    # It does not exist on every system.
    "uvloop": ("machine_client.system.event_loop", "server.cli.serve", "server.cli.worker"),
    "sqlite3": ("machine_client.journal.file",),
    # Handlers, the server that runs them, and the websockets of machines: dispatch, links and
    # store know no web framework.
    "tornado": (
        *("server.api", "server.web", "server.identity", "server.app"),
        "server.machines.websocket",
        # Tools ask the handlers of the node that they are called on.
        "server.mcp.own_handlers",
    ),
    "mcp": ("server.mcp.protocol", "server.mcp.over_http", "server.mcp.stdio"),
    "mcp_types": ("server.mcp.protocol",),
    "httpcore": ("server.webhooks.posting",),
    "cryptography": ("server.secrets.vault",),
    **dict.fromkeys(("cv2", "numpy", "rapidocr"), ("server.vision.looking",)),
    "httpx": ("farhand", "server.mcp.own_handlers"),
    # Each vendor's SDK is for whoever has installed it.
    "anthropic": tuple(
        f"farhand.{flavour}.models.{name}"
        for flavour in ("_async", "_sync")
        for name in ("anthropic", "anthropic_20251124")
    ),
    "openai": ("farhand._async.models.openai", "farhand._sync.models.openai"),
    "google": ("farhand._async.models.gemini", "farhand._sync.models.gemini"),
    # The command line calls the server as anyone would; the demo does it by the same means.
    "farhand": ("farhand", "server.cli", "server.demo", "server.mcp"),
    "prometheus_client": ("server.metrics",),
    "click": (
        *("server.cli", "machine_client.cli", "machine_client.accessibility"),
        "machine_client.demo.window",
    ),
    "rich": ("server.cli", "server.demo"),
}
"""Which rooms may import a foreign library; whatever it raises is translated there."""

NO_IO = {"asyncio", "socket", "threading", "time", "ssl", "os", "subprocess", "logging"}
"""What a state machine must not reach for, in the standard library."""

TESTED_ELSEWHERE = {
    "server/__main__.py": "tests/server/cli/test_cli.py",
    "server/cli/__init__.py": "tests/server/cli/test_cli.py",
    "server/cli/transfer/commands.py": "tests/server/cli/transfer/test_importing.py",
    "server/assembly.py": "tests/server/test_app.py",
    "server/web/endpoint.py": "tests/server/api/test_routes.py",
    "server/web/files.py": "tests/server/api/test_console.py",
    "server/web/session_cookie.py": "tests/server/api/test_console.py",
    "server/web/auditing.py": "tests/server/api/test_audit.py",
    "server/store/machines/documents.py": "tests/server/store/machines/test_machines.py",
    "server/identity/organizations.py": "tests/server/api/test_organizations.py",
    "server/machines/websocket/counted_frames.py": "tests/server/machines/test_flood.py",
    "server/web/closing.py": "tests/server/web/bodies/test_incoming.py",
    # One contract for each bus, and for what they are made of.
    "server/bus/answering.py": "tests/server/bus/test_bus.py",
    "server/bus/local_bus.py": "tests/server/bus/test_bus.py",
    "server/dispatch/ledger/observer.py": "tests/server/dispatch/test_recorder.py",
    "server/api/machines/asking.py": "tests/server/api/machines/test_inputs.py",
    "server/dispatch/here/screens.py": "tests/server/api/looks/test_screen.py",
    "server/dispatch/here/waits.py": "tests/server/dispatch/test_waits_between_nodes.py",
    "server/api/looks/areas.py": "tests/server/api/looks/test_screen.py",
    "server/api/looks/pictures.py": "tests/server/api/looks/test_waiting.py",
    "schemas/inputs/waits.py": "tests/server/api/looks/test_waiting.py",
    "schemas/resources/sessions.py": "tests/server/api/test_sessions.py",
    # What stands on screens, from the pixels to the answer.
    "schemas/inputs/sights.py": "tests/server/api/looks/test_sights.py",
    "server/api/looks/texts.py": "tests/end_to_end/test_sights.py",
    "server/vision/picture_sizes.py": "tests/server/api/looks/test_sights.py",
    "server/dispatch/here/texts.py": "tests/server/api/looks/test_sights.py",
    "server/dispatch/questions/texts.py": "tests/server/dispatch/questions/test_question.py",
    "server/machines/shown_frames.py": "tests/server/api/looks/test_sights.py",
    "server/vision/findings.py": "tests/server/vision/looking/test_looking.py",
    "server/vision/pipes.py": "tests/server/vision/test_vision.py",
    "server/vision/process.py": "tests/server/vision/test_vision.py",
    "server/vision/looking/__main__.py": "tests/server/vision/test_vision.py",
    "server/vision/looking/pixels.py": "tests/server/vision/looking/test_looking.py",
    "server/vision/looking/tiles.py": "tests/server/vision/looking/test_texts.py",
    # What an invitation is for, is seen from its making to the machine.
    "schemas/resources/invitations.py": "tests/server/api/machines/test_invitations.py",
    "server/store/machines/invitations.py": "tests/server/api/machines/test_invitations.py",
    "server/fleet/invitations.py": "tests/server/api/machines/test_invitations.py",
    # What is recorded is seen from the input to the trajectory.
    **dict.fromkeys(
        (
            *(f"server/dispatch/recording/{name}.py" for name in ("album", "drafts", "here")),
            *(f"server/dispatch/recording/{name}.py" for name in ("session", "steps", "writing")),
            "server/dispatch/recording/surroundings.py",
            "server/dispatch/recording/watching.py",
            "server/dispatch/questions/recordings.py",
            "server/fleet/recordings.py",
            "server/store/machines/recording_marks.py",
            "server/store/recordings/recordings.py",
            "server/store/recordings/writes.py",
            "schemas/resources/recordings.py",
        ),
        "tests/server/api/machines/test_recordings.py",
    ),
    # Steps are found, and what they bring about is seen, on a real machine's screen.
    **dict.fromkeys(
        (
            *(f"server/runs/finding/{name}.py" for name in ("finding", "looking")),
            *(f"server/runs/finding/{name}.py" for name in ("by_picture", "halting")),
            *(f"server/runs/finding/{name}.py" for name in ("expecting", "outcomes")),
            *("server/runs/finding/thresholds.py", "server/runs/asking.py"),
            *("server/dispatch/here/pictures.py", "server/dispatch/questions/pictures.py"),
        ),
        "tests/finding/test_gauntlet.py",
    ),
    "schemas/steps/surroundings.py": "tests/server/dispatch/here/test_neighbours.py",
    "server/store/secret_keys.py": "tests/server/secrets/test_sealing.py",
    "server/mcp/recordings.py": "tests/server/mcp/test_tools.py",
    "server/runs/many.py": "tests/server/api/runs/test_bulk.py",
    **dict.fromkeys(
        ("server/runs/repairing/pointing.py", "server/trajectories/repairing.py"),
        "tests/server/runs/repairing/test_repairs.py",
    ),
    # A run is seen from what is asked of it, and from its beginning to its end.
    **dict.fromkeys(
        (
            *(f"schemas/runs/{name}.py" for name in ("requests", "runs")),
            *("server/runs/runs.py", "server/runs/views.py", "server/runs/together.py"),
            *("server/runs/beginning.py", "server/api/runs/places.py"),
            *("server/store/runs/runs.py", "server/store/runs/writes.py"),
            "server/trajectories/running.py",
        ),
        "tests/server/api/runs/test_runs.py",
    ),
    **dict.fromkeys(
        (
            *(f"server/runs/{name}.py" for name in ("ending", "halting", "hold")),
            *(f"server/runs/{name}.py" for name in ("machine", "stepping", "stops", "trying")),
            "server/store/runs/documents.py",
        ),
        "tests/server/runs/test_course.py",
    ),
    "server/told.py": "tests/server/api/test_help.py",
    # The same of pools and tags.
    "schemas/resources/pools.py": "tests/server/api/fleet/test_pools.py",
    "server/store/machines/pools.py": "tests/server/api/fleet/test_pools.py",
    "server/fleet/pools.py": "tests/server/api/fleet/test_pools.py",
    # What lasts is a run, or a recording.
    "server/fleet/lasting_rights.py": "tests/server/runs/test_rights.py",
    "schemas/resources/bulk.py": "tests/server/api/fleet/test_bulk.py",
    "server/fleet/bulk.py": "tests/server/api/fleet/test_bulk.py",
    # What is posted to a webhook is seen where it arrives.
    "schemas/resources/webhooks.py": "tests/server/api/test_webhooks.py",
    "server/store/webhooks/webhooks.py": "tests/server/api/test_webhooks.py",
    "server/store/webhooks/outbox.py": "tests/server/webhooks/test_delivering.py",
    "server/store/webhooks/outages.py": "tests/server/webhooks/test_outages.py",
    "server/webhooks/webhooks.py": "tests/server/api/test_webhooks.py",
    "server/webhooks/signatures.py": "tests/server/api/test_webhooks.py",
    "server/api/fleet/expected_offline.py": "tests/server/webhooks/test_outages.py",
    # What is held of machines is seen in lists.
    "schemas/resources/machine_lists.py": "tests/server/fleet/lists/test_lists.py",
    "server/store/machines/rows.py": "tests/server/fleet/lists/test_lists.py",
    "server/fleet/lists/rows.py": "tests/server/fleet/lists/test_questions.py",
    # What is asked and answered is seen through the API, and how it ends in time.
    "server/store/help/requests.py": "tests/server/fleet/test_help.py",
    # When something was wrong is seen from the link to the list.
    "schemas/resources/troubles.py": "tests/server/api/machines/test_trouble.py",
    "server/store/machines/troubles.py": "tests/server/api/machines/test_trouble.py",
    "server/machines/desktop_troubles.py": "tests/server/api/machines/test_trouble.py",
    "server/machines/link/rivals.py": "tests/server/machines/test_admission_takeovers.py",
    "server/fleet/lists/index.py": "tests/server/fleet/lists/test_questions.py",
    "server/fleet/lists/moment.py": "tests/server/fleet/lists/test_questions.py",
    # What a question says is tested where it is answered; how it crosses, beside `question`.
    "server/dispatch/questions/clipboard.py": "tests/server/dispatch/questions/test_question.py",
    "server/dispatch/questions/control.py": "tests/server/dispatch/questions/test_question.py",
    "server/dispatch/questions/nodes.py": "tests/server/dispatch/questions/test_question.py",
    "server/dispatch/questions/screens.py": "tests/server/dispatch/questions/test_question.py",
    "server/dispatch/ledger/claims.py": "tests/server/dispatch/ledger/test_ledger_nodes.py",
    "server/dispatch/ledger/machine_link.py": "tests/server/machines/test_socket.py",
    "server/dispatch/ledger/under_way.py": "tests/server/dispatch/ledger/test_ledger_failures.py",
    "server/machines/websocket/machine_websocket.py": "tests/server/api/machines/test_connect.py",
    "server/machines/connection.py": "tests/server/machines/test_socket.py",
    "server/machines/websocket/frames.py": "tests/server/machines/test_hostile_client.py",
    "server/machines/link/errors.py": "tests/server/dispatch/test_refusals.py",
    # One contract for what every desktop shows.
    "machine_client/desktop/x11/damage.py": "tests/machine_client/desktop/x11/test_contract.py",
    # Events and effects say nothing by themselves: what is made of them is tested.
    "server/machines/link/events.py": "tests/server/machines/link/test_link.py",
    "machine_client/link/events.py": "tests/machine_client/link/test_session.py",
    "machine_client/__main__.py": "tests/machine_client/test_cli.py",
    # Each tool is called, and what comes to its machine is looked at.
    "server/mcp/arguments.py": "tests/server/mcp/test_tools.py",
    "server/mcp/inputs.py": "tests/server/mcp/test_tools.py",
    "server/mcp/looks.py": "tests/server/mcp/test_tools.py",
    "server/mcp/people.py": "tests/server/mcp/test_tools.py",
    "server/mcp/several.py": "tests/server/mcp/test_tools.py",
    "server/mcp/desk.py": "tests/server/mcp/test_tools.py",
    "server/mcp/over_http.py": "tests/server/api/test_mcp.py",
    "server/mcp/stdio.py": "tests/server/cli/test_mcp.py",
    "client/farhand/_async/webhooks.py": "tests/client/test_openapi.py",
    # They are made of `_async`, whose tests call them.
    "client/farhand/_sync/*": "tests/client/test_unasync.py",
    "client/farhand/_sync/models/*": "tests/client/test_unasync.py",
    "client/farhand/types.py": "tests/client/test_openapi.py",
    # With the vendors' own SDKs, on a real desktop.
    "client/farhand/_async/models/anthropic.py": "tests/end_to_end/test_models.py",
    "client/farhand/_async/models/anthropic_20251124.py": "tests/end_to_end/test_models.py",
    "client/farhand/_async/models/openai.py": "tests/end_to_end/test_models.py",
    "client/farhand/_async/models/gemini.py": "tests/end_to_end/test_models.py",
    # The demo is run as people run it, as a whole.
    "server/demo/*": "tests/server/cli/test_demo.py",
    "machine_client/demo/*": "tests/server/cli/test_demo.py",
}
"""Source files that are tested in a file of another name, and in which."""


DESKTOP_WORDS = {
    "machine_client.desktop.wayland": r"(?i:wayland|wlroots|zwlr_|zwp_|screencopy)",
    "machine_client.desktop.windows": r"\b(?:SendInput|user32|WinSta0|mouse_event)\b",
    "machine_client.desktop.x11": r"(?i:(?<!0)x11|xlib|xtest|x server)|\bDISPLAY\b",
}
"""By which words one recognises a kind of desktop; they are said in its own room alone."""

MAY_SAY_THEM = (
    *("machine_client.desktop.choose", "machine_client.demo"),
    *("machine_client.desktop.x11.desktop", "machine_client.desktop.wayland.input"),
    *("machine_client.system.dpi", "machine_client.system.session_end"),
)
"""Where a desktop is chosen, where the demo's window draws what arrived at it, where one kind tells
a person of the other, and what is so of every program of Windows, whatever it works on."""


def imports_in(source: str, package: str = "") -> set[str]:
    """The full names of everything that a source text imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]).rstrip(".")
            # What is imported may itself be a module: then that is what counts.
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return found


def is_within(name: str, room: str) -> bool:
    """Whether a module, or something in it, belongs to a room."""
    return name == room or name.startswith(room + ".")


def sources() -> Iterator[tuple[str, Path]]:
    """Every module of the project by its dotted name."""
    for room, directory in ROOMS.items():
        for file in sorted((PROJECT / directory).rglob("*.py")):
            parts = file.relative_to(PROJECT / directory).with_suffix("").parts
            name = ".".join([room, *parts])
            yield name.removesuffix(".__init__"), file


FILES = dict(sources())
"""The file of every module of the project."""


@cache
def imports_of(module: str) -> set[str]:
    """The full names of everything that a module of the project imports."""
    file = FILES[module]
    package = module if file.stem == "__init__" else module.rpartition(".")[0]
    return imports_in(file.read_text(), package)


def trespasses(module: str, imported: set[str]) -> list[str]:
    """What a module imports through a wall, as sentences."""
    wrong = []
    for room, allowed in WALLS.items():
        if not is_within(module, room):
            continue
        wrong += [
            f"{module} imports {name}: {room} may import only {sorted(allowed)} of ours"
            for name in sorted(imported)
            if name.split(".")[0] in ROOMS and not any(is_within(name, each) for each in allowed)
        ]
    for library, rooms in FOREIGN.items():
        if any(is_within(name, library) for name in imported) and not any(
            is_within(module, room) for room in rooms
        ):
            wrong.append(f"{module} imports {library}, which belongs to {' and '.join(rooms)}")
    return wrong


def test_no_module_imports_through_a_wall() -> None:
    assert [each for module in FILES for each in trespasses(module, imports_of(module))] == []


KNOW_NO_HTTP = ("server.dispatch", "server.machines", "server.bus")


def test_what_stands_below_the_api_answers_in_no_words_of_http() -> None:
    knowing = {
        f"{module} imports {name}"
        for module in FILES
        if any(is_within(module, room) for room in KNOW_NO_HTTP)
        for name in imports_of(module)
        if is_within(name, "schemas.http")
    }
    assert knowing == set()


def module_of(name: str) -> str | None:
    """The module of ours that a name is or is in; None where it is another's."""
    while name and name not in FILES:
        name = name.rpartition(".")[0]
    return name or None


@cache
def modules_imported_by(module: str) -> set[str]:
    """Which other modules of ours a module imports, also where that is for types only."""
    found = {module_of(name) for name in imports_of(module)}
    return {each for each in found if each is not None and each != module}


def reached_from(module: str) -> set[str]:
    """Everything of ours that is loaded with a module, itself included."""
    found, waiting = {module}, [module]
    while waiting:
        new = modules_imported_by(waiting.pop()) - found
        found |= new
        waiting += new
    return found


RUNNING_COMMANDS = {"serve", "demo", "doctor", "worker"}


def test_commands_that_call_a_server_load_none() -> None:
    allowed = (
        *("server.cli", "farhand", "server.data_directory", "server.tasks", "schemas"),
        "server.mcp",
    )
    loaded = {
        f"{command} loads {name}"
        for command in {*COMMANDS} - RUNNING_COMMANDS
        for name in reached_from(f"server.cli.{COMMANDS[command]}")
        if not any(is_within(name, room) for room in allowed)
    }
    assert loaded == set()


def room_of(module: str) -> str:
    """The room that a module is in: a folder of its side, or itself where it lies beside those."""
    return ".".join(module.split(".")[:2])


def test_no_module_imports_itself_through_others() -> None:
    reached = {module: reached_from(module) for module in FILES}
    circles = {
        tuple(sorted(other for other in reached[module] if module in reached[other]))
        for module in FILES
    }
    assert {circle for circle in circles if len(circle) > 1} == set()


def floor_of(module: str) -> int:
    """Where a module of the machine client stands among its rooms."""
    return FLOORS.index(module.split(".")[1])


def test_rooms_of_the_machine_client_import_those_below_them() -> None:
    inside = {module for module in FILES if module.startswith("machine_client.")}
    upwards = {
        f"{module} imports {other}"
        for module in inside
        for other in modules_imported_by(module) & inside
        if floor_of(other) > floor_of(module)
    }
    assert upwards == set()


@pytest.mark.parametrize("side", ROOMS)
def test_no_room_imports_itself_through_others(side: str) -> None:
    inside = {module for module in FILES if is_within(module, side) and module != side}
    rooms = {
        each: {
            room_of(other)
            for m in inside
            if room_of(m) == each
            for other in modules_imported_by(m) & inside
        }
        - {each}
        for each in map(room_of, inside)
    }
    while free := {each for each, imported in rooms.items() if not imported}:
        rooms = {each: imported - free for each, imported in rooms.items() if each not in free}
    assert rooms == {}


def defines_handler(module: str) -> bool:
    """Whether a module has a handler of its own that answers requests, and is no mere base."""
    return any(
        issubclass(each, RequestHandler) and each.__module__ == module and endpoints_of(each)
        for each in vars(import_module(module)).values()
        if isinstance(each, type)
    )


def test_handlers_are_imported_by_the_route_table_alone() -> None:
    of_api = [name for name in FILES if is_within(name, "server.api")]
    handlers = [name for name in of_api if defines_handler(name)]
    assert "server.api.machines.inputs" in handlers
    for module in of_api:
        if module != "server.api.routes":
            imported = [
                name
                for name in imports_of(module)
                if any(is_within(name, each) for each in handlers)
            ]
            assert imported == [], module


def test_desktops_are_known_in_their_own_rooms_alone() -> None:
    said = {
        f"{module} says {word}"
        for module in FILES
        if is_within(module, "machine_client")
        for word in desktop_words(module, FILES[module].read_text())
    }
    assert said == set()


def desktop_words(module: str, source: str) -> list[str]:
    """What a module says of desktops in whose rooms it is not."""
    if any(is_within(module, room) for room in MAY_SAY_THEM):
        return []
    return [
        found
        for room, words in DESKTOP_WORDS.items()
        if not is_within(module, room)
        for found in re.findall(words, source)
    ]


def test_desktop_that_is_known_elsewhere_is_seen() -> None:
    for source in ("import x11", "# an X server", 'os.environ["DISPLAY"]'):
        assert desktop_words("machine_client.work.executor", source)
        assert not desktop_words("machine_client.desktop.x11.view", source)
        assert desktop_words("machine_client.desktop.wayland.view", source)
    assert desktop_words("machine_client.desktop.x11.view", "# as Wayland does")
    assert not desktop_words("machine_client.work.executor", "display = DISPLAYS")


def test_handlers_know_machines_by_the_door_and_the_websocket_alone() -> None:
    known = {
        f"{module} imports {name}"
        for module in FILES
        if is_within(module, "server.api")
        for name in imports_of(module)
        if is_within(name, "server.machines") and not is_within(name, "server.machines.websocket")
    }
    assert known == set()


STATE_MACHINES = (
    *(name for name in FILES if is_within(name, "server.machines.link")),
    *(name for name in FILES if is_within(name, "machine_client.desktop.vnc.rfb")),
    *("machine_client.link.session", "machine_client.link.events", "machine_client.link.waiting"),
    *("machine_client.link.reported_desktop", "machine_client.screen.sender"),
    "machine_client.work.orders",
)


def libraries_of(module: str) -> set[str]:
    """The top-level names of everything that a module imports."""
    return {name.split(".")[0] for name in imports_of(module)}


def test_state_machines_import_nothing_that_does_io() -> None:
    reaching = {module: libraries_of(module) & NO_IO for module in STATE_MACHINES}
    assert {module: names for module, names in reaching.items() if names} == {}


DOES_IO = {
    *(
        "open",
        "read_text",
        "read_bytes",
        "write_text",
        "write_bytes",
        "is_file",
        "is_dir",
        "exists",
    ),
    *("expanduser", "environ", "getenv"),
}
"""Names by which files and the environment are reached without a module that says so."""


def names_in(source: str) -> set[str]:
    """Every name and attribute that the code of a module uses."""
    nodes = list(ast.walk(ast.parse(source)))
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {
        node.attr for node in nodes if isinstance(node, ast.Attribute)
    }


def test_schemas_are_models_and_pure_functions() -> None:
    harmless = {"logging"}  # how a line of the log looks; the programs write it
    forbidden = (NO_IO | {"signal", "shutil", "tempfile", "sys"}) - harmless
    reaching = {
        module: libraries_of(module) & forbidden | names_in(file.read_text()) & DOES_IO
        for module, file in FILES.items()
        if is_within(module, "schemas")
    }
    assert {module: names for module, names in reaching.items() if names} == {}


def test_reading_is_seen() -> None:
    assert names_in("def f(file):\n    return file.read_text()") & DOES_IO
    assert names_in("f = open") & DOES_IO


def test_what_a_simulation_runs_reaches_for_no_disk_and_no_network() -> None:
    harmless = {"time", "threading", "logging"}  # a monotonic clock, a lock, what went wrong
    for module in ("machine_client.journal.journal", "machine_client.work.worker"):
        assert libraries_of(module) & (NO_IO - harmless) == set(), module


def test_only_the_app_the_demo_and_the_command_line_put_the_parts_together() -> None:
    users = {each for each in FILES if any("server.app" in name for name in imports_of(each))}
    assert "server.cli.serve" in users
    for module in users:
        assert is_within(module, "server.cli") or is_within(module, "server.demo")


def test_no_session_and_no_document_leaves_the_store() -> None:
    inner = ("server.store.mongodb.transactions", "server.store.mongodb.documents")
    for module in FILES:
        if not is_within(module, "server.store"):
            names = imports_of(module)
            assert not [name for name in names for each in inner if is_within(name, each)], module


@pytest.mark.parametrize(
    ("module", "source", "words"),
    [
        ("schemas.link.messages", "from server.tasks import Tasks", "schemas"),
        ("server.store.identity.tokens", "from server.dispatch import ledger", "server.store"),
        ("server.web.handler", "def late():\n    import motor.motor_asyncio", "motor"),
        ("server.machines.link.link", "from server.machines.socket import Connection", "link"),
        ("machine_client.link.session", "import machine_client.journal.journal", "session"),
        ("machine_client.cli", "from server import settings", "machine_client"),
        ("machine_client.cli", "import farhand", "machine_client"),
        ("server.dispatch.command", "from farhand import Farhand", "server.dispatch"),
        ("server.app", "from farhand import Farhand", "server.cli and server.demo"),
        ("farhand._async.client", "from schemas.inputs import bodies", "farhand"),
        ("server.cli.client", "import httpx", "httpx"),
        ("server.dispatch.command", "from server.web.handler import ApiHandler", "server.dispatch"),
        ("server.trajectories.states", "from server.api.metrics import X", "server.trajectories"),
        ("server.trajectories.states", "import server.store.mongodb.database", "trajectories"),
        ("server.api.trajectories.export", "import server.store.trajectories.store", "api"),
        ("server.store.pictures", "from server.trajectories import states", "server.store"),
        ("server.machines.socket", "from tornado import web", "tornado"),
        ("server.machines.socket", "from ..api import base", "server.machines"),
    ],
)
def test_trespass_is_seen(module: str, source: str, words: str) -> None:
    found = trespasses(module, imports_in(source, module.rpartition(".")[0]))
    assert any(words in sentence for sentence in found)


def has_logic(file: Path) -> bool:
    """Whether a source file does anything that a test could see going wrong."""
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(ast.parse(file.read_text()))
    )


def files_testing(file: Path) -> list[Path]:
    """The test files of a source file: its own, several with its name, or the exception's."""
    inside = file.relative_to(PROJECT)
    # The distribution of the client library has one package.
    parts = [part for part in inside.parent.parts if part != "farhand"]
    directory = PROJECT.joinpath("tests", *parts)
    found = [*directory.glob(f"test_{file.stem}.py"), *directory.glob(f"test_{file.stem}_*.py")]
    found += [PROJECT / test for each, test in TESTED_ELSEWHERE.items() if inside.match(each)]
    return [each for each in found if each.is_file()]


def test_every_source_file_has_its_test_file() -> None:
    untested = [
        str(file.relative_to(PROJECT))
        for _, file in sources()
        if has_logic(file) and not files_testing(file)
    ]
    assert untested == [], "add the test files, or the exceptions with their reasons"


def test_exceptions_are_still_needed() -> None:
    for pattern in TESTED_ELSEWHERE:
        assert list(PROJECT.glob(pattern)), f"{pattern} fits nothing any more"
