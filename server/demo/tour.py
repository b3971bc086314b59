"""The tour: every input over HTTP, one of them twice, and its answers in a person's words."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from farhand import Machine, actions
from farhand.actions import Action
from farhand.types import InputResult
from server.demo import DemoError
from server.demo.children import Child, Children
from server.demo.timing import timed

DRAG = actions.drag(110, 620, 790, 620, duration=0.4)

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
    """One input, and what it asks for in words."""

    action: Action
    asked: str


STEPS = (
    Step(actions.move(450, 130), "to 450, 130"),
    Step(actions.click(130, 130, clicks=2), "left twice at 130, 130"),
    Step(DRAG, "to 790, 620 within 0.4 s"),
    Step(actions.scroll("down", 3, 450, 400), "3 down at 450, 400"),
    Step(actions.key("ctrl+a H e l l o enter"), "ctrl+a H e l l o enter"),
    Step(actions.type("Good day!"), "the text Good day!"),
)

WITNESSED = Counter({"drag": 1, "click": 2, "scroll": 3, "key": 16})
"""What the window must see of the steps, the retried one counted once."""


def show_inputs(console: Console, desk: Machine) -> None:
    """Send each step and print its acknowledgement; the drag is sent again, with its key."""
    console.print(_line("Input", "asked for over HTTP", "answer", "machine", "in all", "pointer"))
    answers = [_show(console, desk, step) for step in STEPS]
    first = next(answer for step, answer in zip(STEPS, answers, strict=True) if step.action is DRAG)
    again = _show(console, desk, Step(DRAG, "same Idempotency-Key again"), first.key)
    if not again.replayed or again.model_dump() != first.model_dump():
        raise DemoError("a retry with the same Idempotency-Key did not get the first answer")


def _show(console: Console, desk: Machine, step: Step, key: str | None = None) -> InputResult:
    answer, took = timed(lambda: desk.do(step.action, key=key))
    address = step.action["operation"].replace(".", "/")
    console.print(_answer_line(address, step.asked, answer, took))
    return answer


def show_word(console: Console, desk: Machine) -> int:
    """Draw a word in one request, a drag for each stroke; returns how many drags that were."""
    strokes = list(strokes_of(_WORD))
    answer, took = timed(lambda: desk.actions(strokes))
    asked = f"{len(strokes)} strokes at once: {_WORD}"
    console.print(_answer_line("actions", asked, answer, took))
    return len(strokes)


def strokes_of(word: str) -> Iterator[Action]:
    """The drags that write a word across the window's sheet."""
    left, top, wide, high, step = 130, 270, 47, 110, 142
    for place, letter in enumerate(word):
        for stroke in _LETTERS[letter]:
            a, b, c, d = map(int, stroke)
            x = left + place * step
            yield actions.drag(x + a * wide, top + b * high, x + c * wide, top + d * high)


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


def _answer_line(address: str, asked: str, answer: InputResult, milliseconds: float) -> Text:
    status = "replayed" if answer.replayed else answer.status
    machine = "-" if answer.replayed else f"{answer.duration_ms:.1f} ms"
    pointer = f"{answer.pointer.x}, {answer.pointer.y}"
    return _line(f"  {address}", asked, status, machine, f"{milliseconds:.1f} ms", pointer)


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
