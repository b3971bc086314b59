"""What each tool asks of a machine, and what it says of what came of it."""

import asyncio
import base64
from collections.abc import Iterator
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from farhand import AsyncFarhand
from schemas.inputs.outcomes import ActionResult, Completed, Point
from schemas.link.clipboard_messages import ClipboardQuery, ClipboardRead
from schemas.link.messages import (
    Capability,
    DesktopQuery,
    DesktopSeen,
    Display,
    Screenshot,
    ScreenStart,
    Seen,
)
from schemas.link.messages import Input as Command
from schemas.link.messages import Look as LookMessage
from schemas.resources.tokens import Scope
from schemas.values.pictures import Region
from server.mcp.arguments import Input, Overview
from server.mcp.desk import Said
from server.mcp.refusals import ToolRefusedError
from server.mcp.tools import TOOLS, call
from tests.links import hello
from tests.pictures import picture
from tests.screens import Desk
from tests.server.api.test_help import until_waiting
from tests.service import ScriptedLink, Service
from tests.signs import drawn, png
from tests.store import entered

IN = {"in": {"fit": 1280}}
FAR_LEFT = [Display(x=-1920, y=0, width=1920, height=1080), Display(x=0, y=0, width=640, height=9)]
"""Together 2560 x 1080 from -1920 on, which a screenshot shows in 1280 x 540."""


@pytest.fixture
def desk(io_loop: IOLoop, service: Service) -> Iterator[Desk]:
    """A machine that can do everything."""
    can = Capability(available=True)
    greeting = hello(no_screen=None).model_copy(
        update={"clipboard_read": can, "clipboard_write": can, "elements": can}
    )
    with entered(io_loop, service.joined(greeting)) as (machine, link):
        yield Desk(service, machine, link)


def calling(service: Service, tool: str, **arguments: Any) -> "asyncio.Task[Said]":
    """A call of a tool in the background, over HTTP as `farhand mcp` does it."""

    async def called() -> Said:
        async with AsyncFarhand(service.url, service.token, wait_for_machine=False) as farhand:
            return await call(farhand, tool, arguments, {}, b"caller")

    return service.server.services.background.start(called(), "a call of the test")


INPUTS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("left_click", {}, "mouse.click", {"button": "left", "clicks": 1, "down": None}),
    ("left_click", {"coordinate": [0, 9]}, "mouse.click", {"x": 0, "y": 9, **IN}),
    ("left_click", {"text": "ctrl+shift"}, "mouse.click", {"modifiers": ["ctrl", "shift"]}),
    ("right_click", {}, "mouse.click", {"button": "right", "clicks": 1}),
    ("middle_click", {}, "mouse.click", {"button": "middle", "clicks": 1}),
    ("double_click", {}, "mouse.click", {"button": "left", "clicks": 2}),
    ("triple_click", {}, "mouse.click", {"button": "left", "clicks": 3}),
    ("left_mouse_down", {}, "mouse.click", {"button": "left", "down": True}),
    ("left_mouse_up", {"coordinate": [1, 2]}, "mouse.click", {"down": False, "x": 1, "y": 2, **IN}),
    ("mouse_move", {"coordinate": [3, 4]}, "mouse.move", {"x": 3, "y": 4, **IN}),
    (
        "left_click_drag",
        {"start_coordinate": [1, 2], "coordinate": [3, 4], "text": "alt"},
        "mouse.drag",
        {"start_x": 1, "start_y": 2, "to_x": 3, "to_y": 4, "modifiers": ["alt"], **IN},
    ),
    (
        "scroll",
        {"scroll_direction": "down", "scroll_amount": 5, "coordinate": [3, 4]},
        "mouse.scroll",
        {"direction": "down", "amount": 5, "x": 3, "y": 4, **IN},
    ),
    ("key", {"text": "ctrl+s"}, "keyboard.key", {"text": "ctrl+s", "down": None}),
    ("key", {"text": "Down", "repeat": 3}, "keyboard.key", {"text": "Down", "repeat": 3}),
    ("hold_key", {"text": "shift", "duration": 2}, "keyboard.key", {"text": "shift", "hold": 2}),
    ("type", {"text": "4711\n"}, "keyboard.type", {"text": "4711\n"}),
    ("clipboard_write", {"text": "a"}, "clipboard.write", {"text": "a", "selection": "clipboard"}),
    (
        "click_element",
        {"role": "push button", "element_name": "Save", "window": "Invoice*", "clicks": 2},
        "mouse.click",
        {
            "element": {"role": "push button", "name": "Save", "window": "Invoice*"},
            "button": "left",
            "clicks": 2,
        },
    ),
    (
        "click_element",
        {"ref": "a1", "text": "b"},
        "mouse.click",
        {"element": {"ref": "a1", "text": "b"}},
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "operation", "body"), INPUTS)
async def test_input_is_sent_and_its_end_is_told(
    desk: Desk, tool: str, arguments: dict[str, Any], operation: str, body: dict[str, Any]
) -> None:
    sending = calling(desk.service, tool, machine="desk-1", **arguments)
    command = await desk.link.obey()
    assert command.operation == operation
    assert body.items() <= command.body.items()
    if "in" not in body:
        assert "in" not in command.body
    said = await sending
    assert said.facts["status"] == "completed"
    assert len(said.facts["idempotency_key"]) == 36
    assert not said.pictures


def test_every_tool_is_tested_here() -> None:
    others = {"wait", "actions", "screenshot", "zoom", "cursor_position", "wait_for"}
    others |= {"clipboard_read", "list_machines", "find_elements", "read_texts"}
    others |= {"start_recording", "stop_recording", "request_help"}
    others |= {"run_workflow", "get_run"}
    assert {row[0] for row in INPUTS} | others == {*TOOLS}


async def all_done(desk: Desk) -> list[dict[str, Any]]:
    """Let the machine say that several actions are done; the actions."""
    command = await desk.heard(Command)
    actions: list[dict[str, Any]] = command.body["actions"]
    ends = tuple(ActionResult(operation=each["operation"], status="completed") for each in actions)
    outcome = Completed(duration_ms=1, pointer=Point(x=1, y=1), actions=ends)
    await desk.link.acknowledge(command.command_id, outcome)
    return actions


async def test_wait_is_a_pause_of_the_machine(desk: Desk) -> None:
    waiting = calling(desk.service, "wait", machine="desk-1", duration=2)
    assert await all_done(desk) == [{"operation": "wait", "seconds": 2}]
    assert (await waiting).facts["status"] == "completed"


ACTIONS = [
    {"operation": "mouse.click", "x": 640, "y": 360},
    {"operation": "mouse.scroll", "direction": "up", "amount": 1},
    {"operation": "keyboard.type", "text": "a"},
]


async def test_several_actions_have_places_in_the_screenshot_and_each_ones_end(desk: Desk) -> None:
    acting = calling(desk.service, "actions", machine="desk-1", actions=ACTIONS)
    assert [each.get("in") for each in await all_done(desk)] == [IN["in"], None, None]
    facts = (await acting).facts
    assert [each["status"] for each in facts["actions"]] == ["completed"] * 3


def test_only_inputs_take_a_key() -> None:
    for tool in TOOLS.values():
        assert ("idempotency_key" in tool.model_fields) == issubclass(tool, Input)
        assert tool.reads != issubclass(tool, Input) or tool.name.endswith("_recording")
        assert issubclass(tool, Overview) == (tool.name in ("list_machines", "get_run"))


async def looked_at(desk: Desk) -> None:
    """Answer where the displays are."""
    asked = await desk.heard(DesktopQuery)
    pointer = Point(x=-1, y=1079)
    await desk.link.say(DesktopSeen(request=asked.request, displays=FAR_LEFT, pointer=pointer))


async def test_screenshot_is_made_to_fit(desk: Desk) -> None:
    looking = calling(desk.service, "screenshot", machine="desk-1")
    asked = await desk.heard(Screenshot)
    assert (asked.width, asked.height, asked.region, asked.format) == (1280, 1280, None, "png")
    content = picture("png")
    await desk.answers(asked, content)
    said = await looking
    (shown,) = said.pictures
    assert (base64.b64decode(shown.content), shown.format) == (content, "png")
    assert said.facts.keys() == {"width", "height"}


async def test_region_of_a_screenshot_is_shown_as_the_desktop_has_it(desk: Desk) -> None:
    looking = calling(desk.service, "zoom", machine="desk-1", region=[640, 0, 1280, 270])
    await looked_at(desk)
    asked = await desk.heard(Screenshot)
    assert asked.region is not None
    assert asked.region.model_dump() == {"x": -640, "y": 0, "width": 1280, "height": 540}
    await desk.answers(asked, picture("png"))
    assert len((await looking).pictures) == 1


async def test_pointer_is_told_in_pixels_of_the_screenshot(desk: Desk) -> None:
    looking = calling(desk.service, "cursor_position", machine="desk-1")
    await looked_at(desk)
    await looked_at(desk)
    assert (await looking).facts == {"x": 959, "y": 539}


@pytest.mark.parametrize(
    ("arguments", "matched", "said"),
    [
        ({"still": 0.5}, 0, "still"),
        ({"changed": True}, 0, "changed"),
        ({"still": 0.5, "changed": True}, 1, "changed"),
        ({"still": 0.5, "timeout": 5}, None, None),
        ({"changed": True, "role": "dialog", "element_name": "Saved*"}, 1, "element"),
    ],
)
async def test_wait_for_the_screen_says_what_was_seen(
    desk: Desk, arguments: dict[str, Any], matched: int | None, said: str | None
) -> None:
    waiting = calling(desk.service, "wait_for", machine="desk-1", **arguments)
    asked = await desk.heard(LookMessage)
    assert len(asked.any) == len({"still", "changed", "role"} & {*arguments})
    at = None if matched is None else Region(0, 0, 1, 1)
    await desk.link.say(Seen(request=asked.request, matched=matched, at=at, elapsed=0.1))
    facts = (await waiting).facts
    assert facts["matched"] == said
    assert facts["elapsed"] >= 0


async def test_texts_are_read_with_places_in_pixels_of_the_screenshot(desk: Desk) -> None:
    reading = calling(desk.service, "read_texts", machine="desk-1")
    image = drawn("OK", (64, 40))
    # It is a part of the desktop far away: places are of the whole.
    region = Region(-1920, 0, 64, 40)
    await desk.answers(await desk.heard(Screenshot), png(image), region=region)
    await looked_at(desk)
    (text,) = (await reading).facts["texts"]
    assert text["text"] == "OK"
    assert 0 < text["x"] < 32
    assert 0 < text["y"] < 20


async def test_what_a_model_does_is_recorded_from_start_to_stop(desk: Desk) -> None:
    service = desk.service
    starting = calling(
        service, "start_recording", machine="desk-1", trajectory_name="Open the order"
    )
    await desk.heard(ScreenStart)
    begun = (await starting).facts
    clicking = calling(service, "left_click", machine="desk-1", coordinate=[1, 1])
    await desk.link.acknowledge((await desk.heard(Command)).command_id)
    await clicking
    stopping = calling(service, "stop_recording", machine="desk-1", recording=begun["recording"])
    assert (await stopping).facts == {"trajectory": begun["trajectory"], "steps": 1}


async def test_person_is_asked_and_answers(desk: Desk) -> None:
    service, asks = desk.service, {"machine": "desk-1", "reason": "Send it?", "kind": "approval"}
    first = (await calling(service, "request_help", **asks, wait=0)).facts
    key = first.pop("idempotency_key")
    assert first == {"state": "open"}
    waiting = calling(service, "request_help", **asks, wait=60, idempotency_key=key)
    await until_waiting(service)
    (asked,) = (await service.get("/v1/help")).json["items"]
    person = await service.new_token(Scope.HELP_ANSWER)
    body = {"answer": "deny", "comment": "Not today."}
    path = f"/v1/help/{asked['id']}/answer"
    assert (await service.post(path, body, token=person)).status == 200
    assert (await waiting).facts == {
        "state": "answered",
        "idempotency_key": key,
        "answer": "deny",
        "comment": "Not today.",
        "answered_by": "of a test",
    }


async def test_clipboard_is_read(desk: Desk) -> None:
    reading = calling(desk.service, "clipboard_read", machine="desk-1")
    asked = await desk.heard(ClipboardQuery)
    await desk.link.say(ClipboardRead(request=asked.request, text="copied"))
    assert (await reading).facts == {"text": "copied"}


async def test_machines_are_listed_as_many_as_a_model_can_use(
    service: Service, link: ScriptedLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2, 4):
        await service.new_machine(f"desk-{number}")
    facts = (await calling(service, "list_machines")).facts
    assert {each["machine"]: each["state"] for each in facts["machines"]} == {
        "desk-1": "online",
        "desk-2": "offline",
        "desk-3": "offline",
    }
    monkeypatch.setattr("server.mcp.tools.MOST_MACHINES", 2)
    facts = (await calling(service, "list_machines")).facts
    assert len(facts["machines"]) == 2
    assert facts["left_out"] == "there are more than 2 machines"


async def test_wrong_arguments_never_leave(service: Service) -> None:
    with pytest.raises(ToolRefusedError, match="machine: Field required"):
        await calling(service, "screenshot")
