"""What the console's type check takes for the server's answers is what the server answers."""

import re
from typing import Any

import pytest
from pydantic import BaseModel

from schemas.help.requests import HelpPage, HelpRequest
from schemas.inputs.hand import Acknowledged, ButtonPlace, Refused, Undone
from schemas.inputs.pictures import Area
from schemas.link.messages import Capability, Display
from schemas.resources.audit import AuditEntry, AuditPage, Grant
from schemas.resources.bulk import BulkItem, BulkResult
from schemas.resources.commands import CommandItem, CommandPage
from schemas.resources.events import (
    CommandEvent,
    ControlRequested,
    MachineRemoved,
    TrajectoryChanged,
)
from schemas.resources.invitations import CreatedInvitation, InvitationPage, Join, JoinPage
from schemas.resources.machine_lists import MachinePage, PoolCount, StateCounts, TagCount
from schemas.resources.machines import Control, Holder, InputCounts, Machine, Pause
from schemas.resources.organizations import Organization, OrganizationPage
from schemas.resources.pools import Pool, PoolPage
from schemas.resources.recordings import Recording, RecordingReference
from schemas.resources.sessions import ConsoleSession, SessionPage
from schemas.resources.tokens import CreatedToken, TokenPage
from schemas.resources.trajectories import Trajectory
from schemas.resources.troubles import Trouble, TroublePage
from schemas.resources.webhooks import (
    CreatedWebhook,
    Delivery,
    ExpectedOffline,
    QuietHours,
    WebhookPage,
)
from schemas.resources.workflows import Workflow, WorkflowPage
from schemas.runs.runs import Candidate, Halted, Run, RunPage, RunWithSteps, StepResult
from schemas.steps.reviews import Editor, Review
from server.api.console import Session
from server.console import assets
from tests.server.console.test_assets import STATIC

TEXT = (STATIC.parent / "types" / "console.d.ts").read_text()
ANY_OBJECT = "Record<string, unknown>"
KNOWN_IN_PART = {"Size": ANY_OBJECT, "Step": ANY_OBJECT}
"""Of what was recorded the server says only that it is an object."""


def alternatives(written: str) -> frozenset[str]:
    """What a type as it is written may be, with the names of our own unions resolved."""
    found: set[str] = set()
    for part in filter(None, (each.strip() for each in written.split("|"))):
        if part.endswith("[]"):
            found.add(list_of(alternatives(part[:-2])))
            continue
        alias = re.search(rf"^type {re.escape(part)} =(.*?);$", TEXT, re.MULTILINE | re.DOTALL)
        found |= alternatives(alias[1]) if alias else {KNOWN_IN_PART.get(part, part)}
    return frozenset(found)


def list_of(items: frozenset[str]) -> str:
    """The type of a list of these."""
    return f"({' | '.join(sorted(items))})[]"


def declared(name: str) -> dict[str, frozenset[str]]:
    """The members of an interface, those that it inherits among them."""
    found = re.search(
        rf"^interface {name}(?: extends (\w+))? {{\n(.*?)^}}", TEXT, re.MULTILINE | re.DOTALL
    )
    assert found, f"there is no interface {name}"
    inherited = declared(found[1]) if found[1] else {}
    members = re.findall(r"^  (\w+): (.*);$", found[2], re.MULTILINE)
    return inherited | {member: alternatives(written) for member, written in members}


def in_typescript(schema: dict[str, Any], models: dict[str, Any]) -> frozenset[str]:
    """What a value with this JSON Schema may be."""
    if "anyOf" in schema:
        return frozenset().union(*(in_typescript(each, models) for each in schema["anyOf"]))
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        model = models[name]
        return in_typescript(model, models) if "enum" in model else frozenset({name})
    if "const" in schema:
        return frozenset({f'"{schema["const"]}"'})
    if "enum" in schema:
        return frozenset(f'"{each}"' for each in schema["enum"])
    if schema["type"] == "array":
        return frozenset({list_of(in_typescript(schema["items"], models))})
    names = {"integer": "number", "object": ANY_OBJECT}
    return frozenset({names.get(schema["type"], schema["type"])})


@pytest.mark.parametrize(
    "model",
    [
        *(AuditEntry, Capability, CommandItem, CommandEvent, Control, ControlRequested, Grant),
        *(Acknowledged, ButtonPlace, Refused, Undone),
        *(BulkItem, BulkResult, ExpectedOffline),
        *(Area, Candidate, Halted, Run, RunWithSteps, StepResult),
        *(CreatedInvitation, CreatedToken, CreatedWebhook, Delivery, Join),
        *(ConsoleSession, Organization, Pool, QuietHours),
        *(
            Display,
            HelpRequest,
            Holder,
            InputCounts,
            Machine,
            MachineRemoved,
            Recording,
            RecordingReference,
            Pause,
            Pool,
            PoolCount,
            Editor,
            Review,
            Session,
            StateCounts,
            TagCount,
            Trajectory,
            TrajectoryChanged,
            Trouble,
            Workflow,
        ),
    ],
    ids=lambda model: model.__name__,
)
def test_answer_is_declared_as_it_is(model: type[BaseModel]) -> None:
    schema = model.model_json_schema(mode="serialization")
    models = schema.get("$defs", {})
    assert declared(model.__name__) == {
        name: in_typescript(member, models) for name, member in schema["properties"].items()
    }


@pytest.mark.parametrize(
    "page",
    [
        *(
            AuditPage,
            CommandPage,
            HelpPage,
            InvitationPage,
            JoinPage,
            MachinePage,
            OrganizationPage,
        ),
        *(PoolPage, RunPage, SessionPage, TokenPage, WebhookPage, WorkflowPage, TroublePage),
    ],
)
def test_part_of_a_list_is_declared_as_it_is(page: type[BaseModel]) -> None:
    members = re.search(r"^interface Part<Item> {\n(.*?)^}", TEXT, re.MULTILINE | re.DOTALL)
    assert members
    assert set(re.findall(r"^  (\w+): ", members[1], re.MULTILINE)) == {
        name for name, field in page.model_fields.items() if field.is_required()
    }


def test_types_are_not_served() -> None:
    console = assets.Assets()
    assert console.find("console.d.ts") is None
