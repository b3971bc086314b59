"""Models of three vendors work a machine by their real SDKs; stand-ins play the vendors' services."""

import io
import runpy
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anthropic
import farhand
import httpx
import openai
import pytest
from farhand.models import NotConfirmed, OutOfSteps, _phrases
from farhand.models.anthropic import (
    AsyncComputer as AsyncAnthropicComputer,
)
from farhand.models.anthropic import Computer as AnthropicComputer
from farhand.models.anthropic import Computer20251124
from farhand.models.gemini import AsyncComputer as AsyncGeminiComputer
from farhand.models.gemini import Computer as GeminiComputer
from farhand.models.openai import AsyncComputer as AsyncOpenAIComputer
from farhand.models.openai import Computer as OpenAIComputer
from google import genai

from tests.desktop import DeviceEvent, Witness
from tests.end_to_end.system import Workstation
from tests.processes import ServedApi, ServerProcess
from tests.vendors import (
    DONE,
    Anthropic,
    Anthropic20251124,
    Call,
    Gemini,
    OpenAI,
    StandIn,
    Told,
)

AGENTS = Path(__file__).parents[2] / "docs" / "guide" / "agents"
LONGEST = 640
"""Half of the desktop's, so that places have to be put where they belong."""
SIZE = (640, 400)


class Case(NamedTuple):
    """An action as its vendor has it, and what the witness must see of it, in its order."""

    name: str
    given: Mapping[str, Any]
    seen: str = ""


# In a picture of half the size the pixel 100, 50 is the desktop's 201, 101.
ANTHROPIC = [
    [
        Case(
            "left_click", {"coordinate": [100, 50], "text": "ctrl"}, "+ctrl to 201,101 +1 -1 -ctrl"
        ),
        Case("right_click", {"coordinate": [101, 50]}, "to 203,101 +3 -3"),
        Case("middle_click", {"coordinate": [102, 50]}, "to 205,101 +2 -2"),
        Case("double_click", {"coordinate": [103, 50]}, "to 207,101 +1 -1 +1 -1"),
        Case("triple_click", {"coordinate": [104, 50]}, "to 209,101 +1 -1 +1 -1 +1 -1"),
        Case("left_click", {}, "+1 -1"),
        Case("left_mouse_down", {}, "+1"),
        Case("mouse_move", {"coordinate": [105, 50]}, "to 211,101"),
        Case("left_mouse_up", {}, "-1"),
        Case(
            "left_click_drag",
            {"start_coordinate": [106, 50], "coordinate": [120, 60], "text": "ctrl+shift"},
            "+ctrl +shift to 213,101 +1 to 241,121 -1 -shift -ctrl",
        ),
        Case(
            "scroll",
            {"coordinate": [107, 50], "scroll_direction": "down", "scroll_amount": 2},
            "to 215,101 +5 -5 +5 -5",
        ),
        Case(
            "scroll",
            {"scroll_direction": "left", "scroll_amount": 1, "text": "shift"},
            "+shift +6 -6 -shift",
        ),
    ],
    [
        Case("key", {"text": "ctrl+S", "repeat": 2}, "+ctrl +s -s -ctrl +ctrl +s -s -ctrl"),
        Case("key", {"text": "Return"}, "+enter -enter"),
        Case("hold_key", {"text": "shift", "duration": 1}, "+shift -shift"),
        Case("type", {"text": "as"}, "+a -a +s -s"),
        Case("wait", {"duration": 1}),
        Case("screenshot", {}),
    ],
    [Case("zoom", {"region": [0, 0, 100, 50]}), Case("cursor_position", {})],
]

OPENAI = [
    [
        Case(
            "click",
            {"button": "left", "x": 100, "y": 50, "keys": ["CTRL"]},
            "+ctrl to 201,101 +1 -1 -ctrl",
        ),
        Case("click", {"button": "right", "x": 101, "y": 50}, "to 203,101 +3 -3"),
        Case("click", {"button": "wheel", "x": 102, "y": 50}, "to 205,101 +2 -2"),
        Case("click", {"button": "back", "x": 103, "y": 50}, "to 207,101 +8 -8"),
        Case("click", {"button": "forward", "x": 104, "y": 50}, "to 209,101 +9 -9"),
        Case(
            "double_click",
            {"x": 105, "y": 50, "keys": ["SHIFT"]},
            "+shift to 211,101 +1 -1 +1 -1 -shift",
        ),
        Case("move", {"x": 106, "y": 50, "keys": ["ALT"]}, "+alt to 213,101 -alt"),
        Case(
            "drag",
            {"path": [{"x": 107, "y": 50}, {"x": 150, "y": 80}, {"x": 120, "y": 60}]},
            "to 215,101 +1 to 241,121 -1",
        ),
        Case(
            "scroll", {"x": 108, "y": 50, "scroll_x": 0, "scroll_y": 250}, "to 217,101 +5 -5 +5 -5"
        ),
        Case(
            "scroll",
            {"x": 109, "y": 50, "scroll_x": -90, "scroll_y": -10, "keys": ["CTRL"]},
            "+ctrl to 219,101 +4 -4 -ctrl +ctrl to 219,101 +6 -6 -ctrl",
        ),
    ],
    [
        Case("keypress", {"keys": ["CTRL", "S"]}, "+ctrl +s -s -ctrl"),
        Case("keypress", {"keys": ["ENTER"]}, "+enter -enter"),
        Case("type", {"text": "as"}, "+a -a +s -s"),
        Case("wait", {}),
        Case("screenshot", {}),
    ],
]

# A thousandth of the desktop is 1.28 by 0.8 pixels.
GEMINI = [
    [
        Case("click", {"x": 500, "y": 250, "intent": "to see"}, "to 640,200 +1 -1"),
        Case("double_click", {"x": 501, "y": 250}, "to 641,200 +1 -1 +1 -1"),
        Case("triple_click", {"x": 502, "y": 250}, "to 643,200 +1 -1 +1 -1 +1 -1"),
        Case("right_click", {"x": 503, "y": 250}, "to 644,200 +3 -3"),
        Case("middle_click", {"x": 504, "y": 250}, "to 645,200 +2 -2"),
        Case("mouse_down", {"x": 505, "y": 250}, "to 647,200 +1"),
        Case("mouse_up", {"x": 507, "y": 250}, "to 649,200 -1"),
        Case(
            "drag_and_drop",
            {"start_x": 508, "start_y": 250, "end_x": 999, "end_y": 999},
            "to 650,200 +1 to 1279,799 -1",
        ),
        Case(
            "scroll",
            {"x": 509, "y": 250, "direction": "down", "magnitude_in_wheel_clicks": 2},
            "to 652,200 +5 -5 +5 -5",
        ),
        Case("scroll", {"x": 510, "y": 250, "direction": "up"}, "to 653,200 +4 -4 +4 -4 +4 -4"),
        Case("move", {"x": 506, "y": 250}, "to 648,200"),
        Case("press_key", {"key": "Enter"}, "+enter -enter"),
        Case("hotkey", {"keys": ["Control", "S"]}, "+ctrl +s -s -ctrl"),
        Case("key_down", {"key": "Shift"}, "+shift"),
        Case("key_up", {"key": "Shift"}, "-shift"),
        Case("type", {"text": "as", "press_enter": True}, "+a -a +s -s +enter -enter"),
        Case("wait", {"seconds": 1}),
        Case("take_screenshot", {}),
    ],
    [
        Case("click_at", {"x": 500, "y": 250}, "to 640,200 +1 -1"),
        Case(
            "drag_and_drop",
            {"x": 502, "y": 250, "destination_x": 0, "destination_y": 0},
            "to 643,200 +1 to 0,0 -1",
        ),
        Case(
            "scroll_at",
            {"x": 503, "y": 250, "direction": "right", "magnitude": 200},
            "to 644,200 +7 -7 +7 -7",
        ),
        Case("scroll_document", {"direction": "down", "magnitude": 100}, "+5 -5"),
        Case("hover_at", {"x": 501, "y": 250}, "to 641,200"),
        Case("key_combination", {"keys": "Control+Shift+S"}, "+ctrl +shift +s -s -shift -ctrl"),
        Case(
            "type_text_at",
            {"x": 504, "y": 250, "text": "as"},
            "to 645,200 +1 -1 +ctrl +a -a -ctrl +delete -delete +a -a +s -s +enter -enter",
        ),
        # wait_5_seconds is in the table's own test: it would take that long here.
    ],
]

NAMES = {37: "ctrl", 50: "shift", 64: "alt", 36: "enter", 38: "a", 39: "s", 119: "delete"} | {
    43: "h",
    26: "e",
    46: "l",
    32: "o",
}
"""Of keycodes."""


def described(events: Sequence[DeviceEvent]) -> str:
    """Events as in a Case: of a way its end."""
    told: list[str] = []
    for event in events:
        if event.kind == "MotionNotify":
            if told and told[-1].startswith("to "):
                told.pop()
            told.append(f"to {event.x},{event.y}")
        else:
            sign = "+" if event.kind.endswith("Press") else "-"
            is_key = event.kind.startswith("Key")
            told.append(sign + (NAMES.get(event.detail, "?") if is_key else str(event.detail)))
    return " ".join(told)


@pytest.fixture(scope="module")
def reception(
    shared_server: ServerProcess,
    api: ServedApi,
    display: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Workstation]:
    """A connected machine with the name that the guide's programs have."""
    token, directory = api.add_machine("reception"), tmp_path_factory.mktemp("reception")
    workstation = Workstation(shared_server.url, api, "reception", token, display, directory)
    with workstation.joined():
        yield workstation
    api.call("DELETE", "/v1/machines/reception")


class Wire(httpx.HTTPTransport):
    """The way to the server: remembers what was sent, and loses an answer if it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []
        self.loses_next = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request.url.path.rpartition("/")[2])
        response = super().handle_request(request)
        if self.loses_next and self.sent[-1] == "actions":
            self.loses_next = False
            response.read()
            raise httpx.ReadError("the connection was cut")
        return response


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.fixture
def machine(reception: Workstation, wire: Wire) -> Iterator[farhand.Machine]:
    with farhand.Farhand(reception.url, reception.api.token, transport=wire) as client:
        yield client.machine("reception")


def yes(_call: Any) -> bool:
    return True


def by_anthropic(url: str, machine: farhand.Machine, confirm: Callable[[Any], bool] = yes) -> str:
    """Run a model of the stand-in at a URL to its end; what it says then."""
    computer = AnthropicComputer(machine, confirm=confirm, longest=LONGEST)
    with anthropic.Anthropic(base_url=url, api_key="none") as client:
        runner = client.beta.messages.tool_runner(
            model="stand-in",
            max_tokens=1024,
            messages=[{"role": "user", "content": "Do it."}],
            tools=[computer],
        )
        return [message for message in computer.turns(runner)][-1].content[0].text


def by_anthropic_20251124(
    url: str, machine: farhand.Machine, confirm: Callable[[Any], bool] = yes
) -> str:
    computer = Computer20251124.of(machine, confirm=confirm, longest=LONGEST)
    with anthropic.Anthropic(base_url=url, api_key="none") as client:
        runner = client.beta.messages.tool_runner(
            model="stand-in",
            max_tokens=1024,
            messages=[{"role": "user", "content": "Do it."}],
            tools=[computer],
            betas=["computer-use-2025-11-24"],
        )
        return [message for message in computer.turns(runner)][-1].content[0].text


def by_openai(url: str, machine: farhand.Machine, confirm: Any = None) -> str:
    computer = OpenAIComputer(machine, confirm=confirm, longest=LONGEST)
    with openai.OpenAI(base_url=url, api_key="none") as client:
        return computer.run(client, "Do it.", model="stand-in").output_text


def by_gemini(url: str, machine: farhand.Machine, confirm: Any = None) -> str:
    computer = GeminiComputer(machine, confirm=confirm, longest=LONGEST)
    with genai.Client(api_key="none", http_options={"base_url": url}) as client:
        return computer.run(client, "Do it.", model="stand-in").text or ""


VENDORS: Mapping[str, tuple[type[StandIn], Callable[..., str], list[list[Case]]]] = {
    "anthropic": (Anthropic, by_anthropic, ANTHROPIC),
    "anthropic-20251124": (Anthropic20251124, by_anthropic_20251124, ANTHROPIC),
    "openai": (OpenAI, by_openai, OPENAI),
    "gemini": (Gemini, by_gemini, GEMINI),
}


def played(
    service: StandIn, run: Callable[..., str], machine: farhand.Machine, *confirm: Any
) -> list[Told]:
    """Run a model to its end; what it was told in its first turn."""
    with service.running() as url:
        assert run(url, machine, *confirm) == DONE
    return service.told[0]


CLICK: Mapping[str, Call] = {
    "anthropic": ("left_click", {"coordinate": [100, 50]}),
    "anthropic-20251124": ("left_click", {"coordinate": [100, 50]}),
    "openai": ("click", {"button": "left", "x": 100, "y": 50}),
    "gemini": ("click", {"x": 157, "y": 126}),
}
"""The same place for all of them."""
CLICKED = "to 201,101 +1 -1"
TYPING: Mapping[str, Call] = {
    "anthropic": ("type", {"text": "secret"}),
    "anthropic-20251124": ("type", {"text": "secret"}),
    "openai": ("type", {"text": "secret"}),
    "gemini": ("type", {"text": "secret"}),
}


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_action_happens_as_the_witness_sees(
    vendor: str, machine: farhand.Machine, wire: Wire, witness: Witness
) -> None:
    kind, run, turns = VENDORS[vendor]
    service = kind([[(case.name, case.given) for case in turn] for turn in turns])
    seen: list[list[DeviceEvent]] = []
    service.on_request = lambda: seen.append(witness.take())
    with service.running() as url:
        assert run(url, machine) == DONE
    for turn, events in zip(turns, seen[1:], strict=True):
        assert described(events) == " ".join(case.seen for case in turn if case.seen)
        way = [point for case in turn for point in case.given.get("path", [])]
        places = {(event.x, event.y) for event in events}
        assert {(2 * point["x"] + 1, 2 * point["y"] + 1) for point in way} <= places
    assert not [told for told in service.told for each in told if each.is_error]
    # One request for each turn, however many actions it has.
    assert wire.sent.count("actions") == len(turns)


def test_model_is_shown_what_it_asks_for(machine: farhand.Machine) -> None:
    calls: list[Call] = [
        ("mouse_move", {"coordinate": [107, 50]}),
        ("screenshot", {}),
        ("cursor_position", {}),
        ("zoom", {"region": [0, 0, 100, 50]}),
    ]
    moved, asked, part = Told(size=SIZE), Told("X=107,Y=50"), Told(size=(200, 100))
    told = played(Anthropic([calls]), by_anthropic, machine)
    assert told == [Told("Moved the mouse."), moved, asked, part]
    told = played(Anthropic20251124([calls]), by_anthropic_20251124, machine)
    assert told == [Told("Done."), moved, asked, part]
    told = played(OpenAI([[CLICK["openai"]]]), by_openai, machine)
    assert told == [Told(size=SIZE)]
    told = played(Gemini([[CLICK["gemini"], ("take_screenshot", {})]]), by_gemini, machine)
    assert told == [Told("Done."), Told("Done.", SIZE)]


@pytest.mark.parametrize("vendor", VENDORS)
def test_what_comes_after_a_failure_is_not_executed_and_said_so(
    vendor: str, machine: farhand.Machine, wire: Wire, witness: Witness
) -> None:
    kind, run, _ = VENDORS[vendor]
    outside = {
        "anthropic": ("left_click", {"coordinate": [640, 0]}),
        "anthropic-20251124": ("left_click", {"coordinate": [640, 0]}),
        "openai": ("click", {"button": "left", "x": 640, "y": 0}),
        "gemini": ("click", {"x": 1000, "y": 0}),
    }
    service = kind([[CLICK[vendor], outside[vendor], TYPING[vendor]]])
    told = played(service, run, machine)
    assert described(witness.take()) == CLICKED
    texts = "\n".join(each.text for each in told)
    assert _phrases.OUTSIDE in texts
    assert "Not executed" in texts.splitlines()[2 if vendor != "openai" else 1]
    assert "secret" not in repr(service.told)


@pytest.mark.parametrize(
    ("vendor", "name"),
    [("gemini", "navigate"), ("openai", "fly"), ("anthropic-20251124", "fly")],
)
def test_what_there_is_none_of_is_told(
    vendor: str, name: str, machine: farhand.Machine, witness: Witness
) -> None:
    kind, run, _ = VENDORS[vendor]
    service = kind([[(name, {"url": "http://example.com"})]])
    (told,) = played(service, run, machine)
    assert told.is_error
    assert _phrases.NOT_AVAILABLE in told.text
    assert witness.take() == []


def test_what_gemini_may_not_ask_for_is_declared(machine: farhand.Machine) -> None:
    service = Gemini([])
    with service.running() as url:
        by_gemini(url, machine)
    (tool,) = service.requests[0]["tools"]
    assert tool["computerUse"]["environment"] == "ENVIRONMENT_DESKTOP"
    assert "navigate" in tool["computerUse"]["excluded_predefined_functions"]


def no(_call: Any) -> bool:
    return False


@pytest.mark.parametrize("vendor", ["anthropic", "anthropic-20251124"])
def test_action_that_nobody_confirmed_does_not_happen(
    vendor: str, machine: farhand.Machine, witness: Witness
) -> None:
    kind, run, _ = VENDORS[vendor]
    asked: list[tuple[str, Any]] = []

    def only_clicks(call: Any) -> bool:
        asked.append((call.member, dict(call.input)["text"] if call.member == "type" else None))
        return bool(call.member == "left_click")

    told = played(kind([[CLICK[vendor], TYPING[vendor], CLICK[vendor]]]), run, machine, only_clicks)
    # Once for each, and not for what is not executed anyway.
    assert asked == [("left_click", None), ("type", "secret")]
    assert described(witness.take()) == CLICKED
    assert [each.is_error for each in told] == [False, True, True]
    assert "not" in told[1].text


def test_keyboard_of_anthropic_wants_somebody_to_confirm(machine: farhand.Machine) -> None:
    with pytest.raises(ValueError, match="requires a confirm callable"):
        AnthropicComputer(machine)
    mouse = AnthropicComputer(
        machine, configs={name: {"enabled": False} for name in ("key", "hold_key", "type")}
    )
    assert mouse.to_dict()["type"] == "computer_toolset_20260801"


CHECK = {"id": "check-1", "code": "malicious_instructions", "message": "Is this meant?"}
DECISION = {"decision": "require_confirmation", "explanation": "Is this meant?"}


@pytest.mark.parametrize("confirm", [None, no])
@pytest.mark.parametrize("vendor", ["openai", "gemini"])
def test_turn_that_nobody_confirmed_ends_the_run(
    vendor: str, confirm: Any, machine: farhand.Machine, witness: Witness
) -> None:
    service, run = _that_asks(vendor)
    with service.running() as url, pytest.raises(NotConfirmed, match="Is this meant"):
        run(url, machine, confirm)
    assert witness.take() == []


@pytest.mark.parametrize("vendor", ["openai", "gemini"])
def test_turn_that_somebody_confirmed_happens(
    vendor: str, machine: farhand.Machine, witness: Witness
) -> None:
    service, run = _that_asks(vendor)
    played(service, run, machine, yes)
    assert described(witness.take()) == f"{CLICKED} +1 -1"


def _that_asks(vendor: str) -> tuple[StandIn, Callable[..., str]]:
    """A service that wants somebody to confirm its first turn, of two clicks."""
    click = CLICK[vendor]
    if vendor == "openai":
        return OpenAI([[click, click]], checks=[CHECK]), by_openai
    name, given = click
    return Gemini([[click, (name, {**given, "safety_decision": DECISION})]]), by_gemini


@pytest.mark.parametrize("vendor", VENDORS)
def test_token_without_the_scope_ends_the_run(
    vendor: str, reception: Workstation, witness: Witness
) -> None:
    kind, run, _ = VENDORS[vendor]
    body = {"name": f"only-looks-{vendor}", "role": "viewer"}
    token = reception.api.call("POST", "/v1/tokens", body).json["token"]
    service = kind([[TYPING[vendor]]])
    with farhand.Farhand(reception.url, token) as client, service.running() as url:
        with pytest.raises(farhand.Forbidden, match="input:send"):
            run(url, client.machine("reception"))
    assert witness.take() == []
    # What is wrong is nothing that a model should read.
    assert "input:send" not in repr(service.requests)


@pytest.mark.parametrize("vendor", VENDORS)
def test_machine_that_is_away_ends_the_run(vendor: str, reception: Workstation) -> None:
    kind, run, _ = VENDORS[vendor]
    reception.api.add_machine(f"away-{vendor}")
    service = kind([[TYPING[vendor]]])
    with (
        farhand.Farhand(reception.url, reception.api.token, wait_for_machine=False) as client,
        service.running() as url,
        pytest.raises(farhand.MachineUnavailable) as caught,
    ):
        run(url, client.machine(f"away-{vendor}"))
    assert caught.value.reason == "offline"


@pytest.mark.parametrize("vendor", ["anthropic", "openai"])
def test_lost_answer_is_asked_for_again_and_nothing_happens_twice(
    vendor: str, machine: farhand.Machine, wire: Wire, witness: Witness
) -> None:
    kind, run, _ = VENDORS[vendor]
    look = {"anthropic": [("screenshot", {})]}.get(vendor, [])
    wire.loses_next = True
    told = played(kind([[CLICK[vendor], *look]]), run, machine)
    assert described(witness.take()) == CLICKED
    assert wire.sent.count("actions") == 2
    # The picture went with the answer; the model has the one of now.
    assert told[-1] == Told(size=SIZE)


def test_run_is_bounded(machine: farhand.Machine) -> None:
    for service, run in (
        (OpenAI([[("wait", {})]] * 3), OpenAIComputer),
        (Gemini([[("key_up", {"key": "Shift"})]] * 3), GeminiComputer),
    ):
        with service.running() as url, pytest.raises(OutOfSteps, match="more than 1 turns"):
            if isinstance(service, OpenAI):
                with openai.OpenAI(base_url=url, api_key="none") as client:
                    OpenAIComputer(machine).run(client, "Do it.", model="m", turns=1)
            else:
                with genai.Client(api_key="none", http_options={"base_url": url}) as google:
                    GeminiComputer(machine).run(google, "Do it.", model="m", turns=1)


def test_openai_toolset_of_the_sdk_takes_it_as_its_driver(
    machine: farhand.Machine, wire: Wire, witness: Witness
) -> None:
    toolset = openai.ComputerToolset(OpenAIComputer(machine, longest=LONGEST))
    service = OpenAI([[CLICK["openai"], ("keypress", {"keys": ["S"]})]])
    call = openai.types.responses.ResponseComputerToolCall.model_validate(
        service.post({})[1]["output"][0]
    )
    output = toolset.execute(call)
    assert str(output["output"]["image_url"]).startswith("data:image/png;base64,")
    assert described(witness.take()) == f"{CLICKED} ? +s -s ?"
    assert wire.sent.count("actions") == 1


async def test_loops_run_with_asyncio_as_well(reception: Workstation, witness: Witness) -> None:
    async def said_yes(_call: Any) -> bool:
        return True

    async with farhand.AsyncFarhand(reception.url, reception.api.token) as client:
        machine = client.machine("reception")
        with Anthropic([[CLICK["anthropic"]]]).running() as url:
            computer = AsyncAnthropicComputer(machine, confirm=said_yes, longest=LONGEST)
            async with anthropic.AsyncAnthropic(base_url=url, api_key="none") as vendor:
                runner = vendor.beta.messages.tool_runner(
                    model="stand-in",
                    max_tokens=1024,
                    messages=[{"role": "user", "content": "Do it."}],
                    tools=[computer],
                )
                messages = [message async for message in computer.turns(runner)]
        assert len(messages) == 2
        with OpenAI([[CLICK["openai"]]]).running() as url:
            by_openai = AsyncOpenAIComputer(machine, longest=LONGEST)
            async with openai.AsyncOpenAI(base_url=url, api_key="none") as vendor:
                assert (await by_openai.run(vendor, "Do it.", model="m")).output_text == DONE
        with Gemini([[CLICK["gemini"]]]).running() as url:
            by_gemini = AsyncGeminiComputer(machine, longest=LONGEST)
            async with genai.Client(api_key="none", http_options={"base_url": url}).aio as vendor:
                assert (await by_gemini.run(vendor, "Do it.", model="m")).text == DONE
    assert described(witness.take()) == f"{CLICKED} +1 -1 +1 -1"


HELLO = " ".join(f"+{key} -{key}" for key in "hello")


@pytest.mark.parametrize(
    ("program", "kind", "address", "calls"),
    [
        (
            "anthropic_agent",
            Anthropic,
            "ANTHROPIC_BASE_URL",
            [("left_click", {"coordinate": [201, 101]}), ("type", {"text": "hello"})],
        ),
        (
            "openai_agent",
            OpenAI,
            "OPENAI_BASE_URL",
            [("click", {"button": "left", "x": 201, "y": 101}), ("type", {"text": "hello"})],
        ),
        (
            "gemini_agent",
            Gemini,
            "GOOGLE_GEMINI_BASE_URL",
            [CLICK["gemini"], ("type", {"text": "hello"})],
        ),
    ],
)
def test_program_of_the_guide(
    program: str,
    kind: type[StandIn],
    address: str,
    calls: list[Call],
    reception: Workstation,
    witness: Witness,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("FARHAND_URL", reception.url)
    monkeypatch.setenv("FARHAND_TOKEN", reception.api.token)
    for vendor in ("ANTHROPIC", "OPENAI", "GEMINI"):
        monkeypatch.setenv(f"{vendor}_API_KEY", "none")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n" * len(calls)))
    service = kind([calls])
    with service.running() as url:
        monkeypatch.setenv(address, url)
        runpy.run_path(str(AGENTS / f"{program}.py"))
    assert described(witness.take()) == f"{CLICKED} {HELLO}"
    assert capsys.readouterr().out.endswith(f"{DONE}\n")
    assert not any(told.is_error for told in service.told[0])
