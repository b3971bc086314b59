"""The tour: every input over HTTP, one of them twice, and its answers in a person's words."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from rich.console import Console
from rich.text import Text

from server.demo import DemoError
from server.demo.caller import Answer, Caller
from server.demo.children import Child, Children
from server.demo.parts import MACHINE_ID

DRAG = {"start_x": 110, "start_y": 620, "to_x": 790, "to_y": 620, "duration": 0.4}

# Letters as strokes on a grid that is two wide and two high: from x, y to x, y.
_LETTERS = {
    "H": ("0002", "2022", "0121"),
    "E": ("0002", "0020", "0121", "0222"),
    "L": ("0002", "0222"),
    "O": ("0020", "2022", "2202", "0200"),
}
_WORD = "HELLO"


@dataclass(frozen=True)
class Step:
    """One input: the end of its address, its body, and what it asks for in words."""

    address: str
    body: dict[str, Any]
    asked: str


STEPS = (
    Step("mouse/move", {"x": 450, "y": 130}, "to 450, 130"),
    Step(
        "mouse/click", {"x": 130, "y": 130, "button": "left", "clicks": 2}, "left twice at 130, 130"
    ),
    Step("mouse/drag", DRAG, "to 790, 620 within 0.4 s"),
    Step(
        "mouse/scroll",
        {"direction": "down", "amount": 3, "x": 450, "y": 400},
        "3 down at 450, 400",
    ),
    Step("keyboard/key", {"text": "ctrl+a H e l l o enter"}, "ctrl+a H e l l o enter"),
    Step("keyboard/type", {"text": "Good day!"}, "the text Good day!"),
)

WITNESSED = Counter({"drag": 1, "click": 2, "scroll": 3, "key": 16})
"""What the window must see of the steps, the retried one counted once."""


def show_inputs(console: Console, caller: Caller) -> None:
    """Send each step and print its acknowledgement; the drag is sent with a key, and again."""
    console.print(_line("Input", "asked for over HTTP", "answer", "machine", "in all", "pointer"))
    key = f"demo-{uuid4()}"
    first: Answer | None = None
    for step in STEPS:
        headers = {"Idempotency-Key": key} if step.body is DRAG else {}
        answer = send(caller, step, headers)
        _print_answer(console, step, answer, "completed")
        if headers:
            first = answer
    assert first is not None  # noqa: S101  the drag is one of the steps
    again = Step("mouse/drag", DRAG, "same Idempotency-Key again")
    answer = send(caller, again, {"Idempotency-Key": key})
    if answer.headers.get("Idempotency-Replayed") != "true" or answer.body != first.body:
        raise DemoError("a retry with the same Idempotency-Key did not get the first answer")
    _print_answer(console, again, answer, "replayed")


def send(caller: Caller, step: Step, headers: dict[str, str] | None = None) -> Answer:
    """Send an input to the demo's machine; raises DemoError unless it was carried out."""
    path = f"/v1/computer/{MACHINE_ID}/input/{step.address}"
    answer = caller.call("POST", path, step.body, headers)
    if answer.status != 200 or answer.json()["status"] != "completed":
        raise DemoError(f"POST {path} was answered {answer.status}, which does not say completed")
    return answer


def show_word(console: Console, caller: Caller) -> int:
    """Draw a word in one request, a drag for each stroke; returns how many drags that were."""
    strokes = [{"operation": "mouse.drag", **body} for body in strokes_of(_WORD)]
    path = f"/v1/computer/{MACHINE_ID}/actions"
    key = {"Idempotency-Key": f"demo-{uuid4()}"}
    answer = caller.call("POST", path, {"actions": strokes}, key)
    if answer.status != 200:
        raise DemoError(f"POST {path} was answered {answer.status}, which does not say completed")
    asked = f"{len(strokes)} strokes at once: {_WORD}"
    _print_answer(console, Step("actions", {}, asked), answer, "completed")
    return len(strokes)


def strokes_of(word: str) -> Iterator[dict[str, Any]]:
    """The bodies of the drags that write a word across the window's sheet."""
    left, top, wide, high, step = 130, 270, 47, 110, 142
    for place, letter in enumerate(word):
        for stroke in _LETTERS[letter]:
            a, b, c, d = map(int, stroke)
            x = left + place * step
            yield {
                "start_x": x + a * wide,
                "start_y": top + b * high,
                "to_x": x + c * wide,
                "to_y": top + d * high,
            }


def show_witness(console: Console, children: Children, window: Child, drags: int) -> None:
    """Wait until the window has seen every input, and print that it saw none of them twice."""
    expected = WITNESSED + Counter({"drag": drags})

    def seen() -> Counter[str] | None:
        words = Counter(line.partition(" ")[0] for line in window.output().splitlines())
        found = Counter({name: words[name] for name in expected})
        return found if all(found[name] >= expected[name] for name in expected) else None

    found = children.wait_for(seen, "the window has seen every input", window)
    if found != expected:
        raise DemoError(f"the window saw {_counted(found)}, and not {_counted(expected)}")
    console.print(
        Text.assemble(("  The window saw ", "dim"), _counted(found), (", each once.", "dim"))
    )


def _counted(found: Counter[str]) -> str:
    names = {"drag": "drags", "click": "clicks", "scroll": "wheel notches", "key": "keys"}
    return ", ".join(f"{found[name]} {plural}" for name, plural in names.items())


def _print_answer(console: Console, step: Step, answer: Answer, status: str) -> None:
    x, y = _pointer(answer)
    machine = f"{answer.json()['duration_ms']:.1f} ms" if status == "completed" else "-"
    in_all = f"{answer.milliseconds:.1f} ms"
    console.print(_line(f"  {step.address}", step.asked, status, machine, in_all, f"{x}, {y}"))


def _pointer(answer: Answer) -> tuple[int, int]:
    pointer = answer.json()["pointer"]
    return pointer["x"], pointer["y"]


def _line(address: str, asked: str, status: str, machine: str, in_all: str, pointer: str) -> Text:
    """One line of the table; it is printed as it comes, so its columns are of fixed widths."""
    heading = not address.startswith(" ")
    line = Text(no_wrap=True, style="dim" if heading else "")
    line.append(f"{address:<16}", "bold not dim" if heading else "cyan")
    line.append(f"{asked:<27}")
    line.append(f"{status:<10}", {"completed": "green", "replayed": "yellow"}.get(status, ""))
    line.append(f"{machine:>8}{in_all:>9}  ")
    line.append(pointer, "" if heading else "dim")
    return line
