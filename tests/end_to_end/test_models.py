"""Models of three vendors work a machine by their real SDKs; stand-ins play the services."""

import gc
import importlib
import io
import runpy
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

import farhand
from farhand._models import phrases
from farhand.models import NotConfirmed, OutOfSteps
from tests.desktop import DeviceEvent, Witness
from tests.end_to_end.system import Workstation
from tests.end_to_end.vendor_cases import (
    ANTHROPIC,
    CLICK,
    CLICKED,
    GEMINI,
    OPENAI,
    OUTSIDE,
    SIZE,
    Case,
)
from tests.processes import ServedApi, ServerProcess
from tests.vendors import DONE, Anthropic, Anthropic20251124, Call, Gemini, OpenAI, StandIn, Told

AGENTS = Path(__file__).parents[2] / "docs" / "guide" / "agents"

VENDORS: Mapping[str, tuple[type[StandIn], list[list[Case]]]] = {
    "anthropic": (Anthropic, ANTHROPIC),
    # The same actions, but for those that take a second again.
    "anthropic-20251124": (
        Anthropic20251124,
        [[case for case in turn if "duration" not in case.given] for turn in ANTHROPIC],
    ),
    "openai": (OpenAI, OPENAI),
    "gemini": (Gemini, GEMINI),
}
TYPING: Call = ("type", {"text": "hello"})
HELLO = " ".join(f"+{key} -{key}" for key in "hello")

KEYS = {36: "enter", 37: "ctrl", 38: "a", 39: "s", 50: "shift", 64: "alt", 119: "delete"}
KEYS |= {43: "h", 26: "e", 46: "l", 32: "o"}
"""By their codes."""


def described(events: Sequence[DeviceEvent]) -> str:
    """Events as in a Case; of a way its end."""
    told: list[str] = []
    for event in events:
        if event.kind == "MotionNotify":
            if told and told[-1].startswith("to "):
                told.pop()
            told.append(f"to {event.x},{event.y}")
        else:
            sign = "+" if event.kind.endswith("Press") else "-"
            name = KEYS[event.detail] if event.kind.startswith("Key") else event.detail
            told.append(f"{sign}{name}")
    return " ".join(told)


class Wire(httpx.HTTPTransport):
    """The way to the server: remembers what was sent, and loses an answer if it is told to.

    What is sent while it ``refuses`` has a token that is none.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []
        self.loses_next = False
        self.refuses = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request.url.path.rpartition("/")[2])
        if self.refuses:
            request.headers["Authorization"] = "Bearer none"
        response = super().handle_request(request)
        if self.loses_next and self.sent[-1] == "actions":
            self.loses_next = False
            response.read()
            raise httpx.ReadError("the connection was cut")
        return response


@pytest.fixture(scope="module")
def reception(
    shared_server: ServerProcess,
    api: ServedApi,
    display: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Workstation]:
    """A connected machine, called as in the guide's programs."""
    token, directory = api.add_machine("reception"), tmp_path_factory.mktemp("reception")
    workstation = Workstation(shared_server.url, api, "reception", token, display, directory)
    with workstation.joined():
        yield workstation
    api.call("DELETE", "/v1/machines/reception")


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.fixture
def machine(reception: Workstation, wire: Wire) -> Iterator[farhand.Machine]:
    with farhand.Farhand(reception.url, reception.api.token, transport=wire) as client:
        yield client.machine("reception")


def vendor_runs() -> Any:
    """What imports the SDKs: here, and not in each process that only looks for tests."""
    return importlib.import_module("tests.end_to_end.vendor_runs")


def run(vendor: str, service: StandIn, machine: farhand.Machine, **options: Any) -> list[Told]:
    """Let the vendor's model work the machine to its end; what it was told in its first turn."""
    with service.running() as url:
        assert vendor_runs().RUNS[vendor](url, machine, **options) == DONE
    return service.told[0]


def said(told: Sequence[Told]) -> list[str]:
    """What a model reads of its calls: OpenAI's has a line for each, all others have a text."""
    return "\n".join(each.text for each in told).splitlines()


def no(_call: Any) -> bool:
    return False


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_action_happens_as_the_witness_sees(
    vendor: str, machine: farhand.Machine, wire: Wire, witness: Witness
) -> None:
    kind, turns = VENDORS[vendor]
    service = kind([[(case.name, case.given) for case in turn] for turn in turns])
    seen: list[list[DeviceEvent]] = []
    service.on_request = lambda: seen.append(witness.take())
    run(vendor, service, machine)
    for turn, events, told in zip(turns, seen[1:], service.told, strict=True):
        assert described(events) == " ".join(case.seen for case in turn if case.seen)
        places = {(event.x, event.y) for event in events}
        way = [point for case in turn for point in case.given.get("path", [])]
        assert {(2 * point["x"] + 1, 2 * point["y"] + 1) for point in way} <= places
        assert not any(each.is_error for each in told)
        for case, each in zip(turn, told, strict=False):
            assert case.shown in {None, each}
        if vendor in {"openai", "gemini"}:
            assert told[-1].size == SIZE
    # One request for each turn, however many actions it has.
    assert wire.sent.count("actions") == len(turns)


@pytest.mark.parametrize("vendor", VENDORS)
def test_what_comes_after_a_failure_is_not_executed_and_said_so(
    vendor: str, machine: farhand.Machine, witness: Witness, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    kind, _ = VENDORS[vendor]
    service = kind([[CLICK[vendor], OUTSIDE[vendor], TYPING]])
    *_, failure, rest = said(run(vendor, service, machine))
    assert described(witness.take()) == CLICKED
    assert failure.endswith(phrases.OUTSIDE)
    assert "Not executed" in rest
    assert "hello" not in repr(service.told) + caplog.text


@pytest.mark.parametrize(
    ("vendor", "name"),
    [("gemini", "navigate"), ("openai", "fly"), ("anthropic-20251124", "fly")],
)
def test_what_there_is_none_of_is_told(
    vendor: str, name: str, machine: farhand.Machine, witness: Witness
) -> None:
    kind, _ = VENDORS[vendor]
    service = kind([[(name, {"url": "http://example.com"})]])
    (told,) = run(vendor, service, machine)
    assert told.is_error
    assert told.text.endswith(phrases.NOT_AVAILABLE) or "\n" in told.text
    assert witness.take() == []
    if vendor == "gemini":
        tool = service.requests[0]["tools"][0]["computerUse"]
        assert tool["environment"] == "ENVIRONMENT_DESKTOP"
        assert name in tool["excluded_predefined_functions"]


@pytest.mark.parametrize("vendor", ["anthropic", "anthropic-20251124"])
def test_action_that_nobody_confirmed_does_not_happen(
    vendor: str, machine: farhand.Machine, witness: Witness
) -> None:
    asked: list[tuple[str, Any]] = []

    def only_clicks(call: Any) -> bool:
        asked.append((call.member, dict(call.input).get("text")))
        return bool(call.member == "left_click")

    kind, _ = VENDORS[vendor]
    service = kind([[CLICK[vendor], TYPING, CLICK[vendor]]])
    told = run(vendor, service, machine, confirm=only_clicks)
    # Once for each, and not for what is not executed anyway.
    assert asked == [("left_click", None), ("type", "hello")]
    assert described(witness.take()) == CLICKED
    assert [each.is_error for each in told] == [False, True, True]
    assert " not " in told[1].text


def test_keyboard_of_anthropic_wants_somebody_to_confirm(machine: farhand.Machine) -> None:
    without_confirm = vendor_runs().without_confirm
    with pytest.raises(ValueError, match="requires a confirm callable"):
        without_confirm(machine, keyboard=True)
    assert without_confirm(machine, keyboard=False)["configs"]["type"] == {"enabled": False}


CHECK = {"id": "check-1", "code": "malicious_instructions", "message": "Is this meant?"}
DECISION = {"decision": "require_confirmation", "explanation": "Is this meant?"}


def service_that_asks(vendor: str) -> StandIn:
    """One that wants somebody to confirm its first turn, which is two clicks."""
    name, given = CLICK[vendor]
    if vendor == "openai":
        return OpenAI([[(name, given), (name, given)]], checks=[CHECK])
    return Gemini([[(name, given), (name, {**given, "safety_decision": DECISION})]])


@pytest.mark.parametrize(
    ("vendor", "confirm"), [("openai", None), ("gemini", None), ("gemini", no)]
)
def test_turn_that_nobody_confirmed_ends_the_run(
    vendor: str, confirm: Callable[[Any], bool] | None, machine: farhand.Machine, witness: Witness
) -> None:
    with pytest.raises(NotConfirmed, match="Is this meant"):
        run(vendor, service_that_asks(vendor), machine, confirm=confirm)
    assert witness.take() == []


@pytest.mark.parametrize("vendor", ["openai", "gemini"])
def test_turn_that_somebody_confirmed_happens(
    vendor: str, machine: farhand.Machine, witness: Witness
) -> None:
    run(vendor, service_that_asks(vendor), machine, confirm=lambda _call: True)
    assert described(witness.take()) == f"{CLICKED} {CLICKED}"


@pytest.mark.parametrize("vendor", VENDORS)
def test_token_without_the_scope_ends_the_run(
    vendor: str, reception: Workstation, witness: Witness
) -> None:
    body = {"name": f"only-looks-{vendor}", "role": "viewer"}
    token = reception.api.call("POST", "/v1/tokens", body).json["token"]
    service = VENDORS[vendor][0]([[TYPING]])
    with (
        farhand.Farhand(reception.url, token) as client,
        pytest.raises(farhand.Forbidden, match="input:send"),
    ):
        run(vendor, service, client.machine("reception"))
    assert witness.take() == []
    # What is wrong is nothing that a model should read.
    assert "input:send" not in repr(service.requests)


@pytest.mark.parametrize("vendor", ["anthropic", "gemini"])
def test_machine_that_is_away_ends_the_run(vendor: str, reception: Workstation) -> None:
    reception.api.add_machine(f"away-{vendor}")
    service = VENDORS[vendor][0]([[TYPING]])
    with (
        farhand.Farhand(reception.url, reception.api.token, wait_for_machine=False) as client,
        pytest.raises(farhand.MachineUnavailable) as caught,
    ):
        run(vendor, service, client.machine(f"away-{vendor}"))
    assert caught.value.reason == "offline"


def test_computer_of_a_run_that_was_ended_is_good_for_another(
    machine: farhand.Machine, wire: Wire, witness: Witness
) -> None:
    runs = vendor_runs()
    computer = runs.Computer20251124.of(machine, confirm=runs.yes, longest=runs.LONGEST)
    wire.refuses = True
    with (
        Anthropic20251124([[CLICK["anthropic"]]]).running() as url,
        pytest.raises(farhand.Unauthenticated),
    ):
        runs.by_computer_20251124(url, computer)
    assert witness.take() == []
    wire.refuses = False
    with Anthropic20251124([[CLICK["anthropic"]]]).running() as url:
        assert runs.by_computer_20251124(url, computer) == DONE
    assert described(witness.take()) == CLICKED


@pytest.mark.parametrize("vendor", ["anthropic", "openai"])
def test_lost_answer_is_asked_for_again_and_nothing_happens_twice(
    vendor: str, machine: farhand.Machine, wire: Wire, witness: Witness
) -> None:
    look: list[Call] = [("screenshot", {})] if vendor == "anthropic" else []
    wire.loses_next = True
    told = run(vendor, VENDORS[vendor][0]([[CLICK[vendor], *look]]), machine)
    assert described(witness.take()) == CLICKED
    assert wire.sent.count("actions") == 2
    # The picture went with the answer: the model gets that of now.
    assert told[-1] == Told(size=SIZE)


@pytest.mark.parametrize("vendor", ["openai", "gemini"])
def test_run_is_bounded(vendor: str, machine: farhand.Machine, witness: Witness) -> None:
    with pytest.raises(OutOfSteps, match="more than 1 turns"):
        run(vendor, VENDORS[vendor][0]([[CLICK[vendor]]] * 2), machine, turns=1)
    assert described(witness.take()) == CLICKED
    run(vendor, VENDORS[vendor][0]([[CLICK[vendor]]]), machine, turns=1)


def test_openai_toolset_of_the_sdk_takes_it_as_its_driver(
    machine: farhand.Machine, witness: Witness
) -> None:
    execute = vendor_runs().openai_toolset(machine, {"click", "type", "screenshot"})
    picture = execute(openai_call(CLICK["openai"], TYPING))
    assert picture.startswith("data:image/png;base64,")
    assert described(witness.take()) == f"{CLICKED} {HELLO}"


def test_openai_toolset_leaves_nothing_of_an_abandoned_call_to_the_next(
    machine: farhand.Machine, witness: Witness
) -> None:
    execute = vendor_runs().openai_toolset(machine, {"type", "screenshot"})
    with pytest.raises(Exception, match="action was not approved"):
        execute(openai_call(TYPING, CLICK["openai"]))
    assert described(witness.take()) == HELLO
    execute(openai_call(TYPING))
    assert described(witness.take()) == HELLO


def openai_call(*actions: Call) -> Any:
    _, response = OpenAI([[*actions]]).post({})
    return response["output"][0]


def test_several_calls_of_openai_are_one_turn_also_in_the_older_form(
    machine: farhand.Machine, wire: Wire, witness: Witness
) -> None:
    def call(number: int, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        base = {"type": "computer_call", "status": "completed", "pending_safety_checks": []}
        names = {"id": f"cu_{number}", "call_id": f"call_{number}"}
        return {**base, **names, "action": {"type": name, **given}}

    calls = [call(1, *CLICK["openai"]), call(2, *OUTSIDE["openai"]), call(3, *TYPING)]
    *outputs, message = vendor_runs().openai_outputs(machine, calls)
    assert [each["call_id"] for each in outputs] == ["call_1", "call_2", "call_3"]
    assert message["content"][0]["text"].splitlines() == [
        f"Action 2 (click): {phrases.OUTSIDE}",
        f"Action 3 (type): {phrases.NOT_EXECUTED}",
    ]
    assert described(witness.take()) == CLICKED
    # All at first, and then what is good by itself.
    assert wire.sent.count("actions") == 2


async def test_loops_run_with_asyncio_as_well(reception: Workstation, witness: Witness) -> None:
    loops = vendor_runs().ASYNC_RUNS
    async with farhand.AsyncFarhand(reception.url, reception.api.token) as client:
        for vendor, loop in loops.items():
            with VENDORS[vendor][0]([[CLICK[vendor]]]).running() as url:
                assert await loop(url, client.machine("reception")) == DONE
    assert described(witness.take()) == " ".join([CLICKED] * len(loops))


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # A program ends with its connections open.
@pytest.mark.parametrize(
    ("vendor", "address", "click"),
    [
        ("anthropic", "ANTHROPIC_BASE_URL", ("left_click", {"coordinate": [201, 101]})),
        ("openai", "OPENAI_BASE_URL", ("click", {"button": "left", "x": 201, "y": 101})),
        ("gemini", "GOOGLE_GEMINI_BASE_URL", CLICK["gemini"]),
    ],
)
def test_program_of_the_guide(
    vendor: str,
    address: str,
    click: Call,
    reception: Workstation,
    witness: Witness,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("FARHAND_URL", reception.url)
    monkeypatch.setenv("FARHAND_TOKEN", reception.api.token)
    monkeypatch.setenv(f"{vendor.upper()}_API_KEY", "none")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\ny\n"))
    monkeypatch.setattr("sys.argv", [f"{vendor}_agent.py", "reception"])
    service = VENDORS[vendor][0]([[click, TYPING]])
    with service.running() as url:
        monkeypatch.setenv(address, url)
        runpy.run_path(str(AGENTS / f"{vendor}_agent.py"))
        gc.collect()
    assert described(witness.take()) == f"{CLICKED} {HELLO}"
    assert capsys.readouterr().out.endswith(f"{DONE}\n")


@pytest.mark.parametrize("vendor", ["anthropic", "openai", "gemini"])
def test_page_shows_the_program(vendor: str) -> None:
    program = (AGENTS / f"{vendor}_agent.py").read_text()
    assert f"```python\n{program}```" in (AGENTS.parent / "models.md").read_text()
    assert len([line for line in program.splitlines() if line]) <= 15
