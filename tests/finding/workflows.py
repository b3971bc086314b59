"""The twelve workflows of the gauntlet: what a person does, and what the form should have of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.finding.scenario import Scenario, Subject

EXPRESS: Final = "Express"


@dataclass(frozen=True)
class Click:
    """A click on something, by the name that the form knows it by."""

    on: str
    button: str = "left"
    clicks: int = 1


@dataclass(frozen=True)
class Type:
    """A text, which another run has another value for."""

    parameter: str


@dataclass(frozen=True)
class Keys:
    """A combination of keys."""

    keys: str


@dataclass(frozen=True)
class Drag:
    """From one place to another."""

    start: str
    end: str


@dataclass(frozen=True)
class ScrollTo:
    """Turns of the wheel over something, until something else is to be seen."""

    over: str
    until: str


Move = Click | Type | Keys | Drag | ScrollTo

RECORDED: Final[Mapping[str, str]] = {"customer": "Ada", "order": "7001", "note": "urgent"}
"""What was entered while it was recorded."""

VALUES: Final[Mapping[str, str]] = {"customer": "Grace H", "order": "8302", "note": "by noon"}
"""What a run is to enter."""


@dataclass(frozen=True)
class Wanted:
    """What the record should say: what was done, in order, and what fields hold in the end."""

    did: tuple[str, ...] = ()
    holds: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Workflow:
    """One of the twelve; its names may have ``{order}``, ``{item}`` and ``{far}``."""

    name: str
    toolkit: str
    moves: tuple[Move, ...]
    subject: Subject
    did: tuple[str, ...] = ()
    holds: dict[str, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> list[str]:
        """What it has values for."""
        return [each.parameter for each in self.moves if isinstance(each, Type)]

    def wanted(self, scenario: Scenario, values: Mapping[str, str]) -> Wanted:
        """What the record of a form says once it is done with these values."""

        def said(text: Any) -> Any:
            return named(text, scenario).format(**values) if isinstance(text, str) else text

        holds = {said(name): said(value) for name, value in self.holds.items()}
        return Wanted(tuple(map(said, self.did)), holds)


def named(text: str, scenario: Scenario) -> str:
    """A name with the order, or the item, that a workflow is about on this form."""
    about = {
        "[order]": scenario.orders[1],
        "[item]": scenario.items[2],
        "[first]": scenario.items[0],
        "[far]": scenario.items[24],
    }
    for sign, meant in about.items():
        text = text.replace(sign, meant)
    return text


WORKFLOWS: Final = (
    Workflow(
        "fields",
        "gtk3",
        (Click("customer"), Type("customer"), Click("reference"), Type("order"), Click("Save")),
        Subject("reference", filled={"customer": "old"}, types=True),
        ("save",),
        {"customer": "{customer}", "reference": "{order}"},
    ),
    Workflow(
        "choice",
        "qt5",
        (Click("delivery"), Click(f"choice {EXPRESS}"), Click("Save")),
        Subject("delivery", filled={"delivery": EXPRESS}),
        ("save",),
        {"delivery": EXPRESS},
    ),
    Workflow(
        "boxes",
        "gtk3",
        (Click("Paid"), Click("Urgent"), Click("Save")),
        Subject("Urgent", filled={"paid": True}),
        ("save",),
        {"paid": True, "urgent": True},
    ),
    Workflow(
        "edit",
        "qt5",
        (Click("Edit [order]"),),
        Subject("Edit", is_row=True),
        ("edit [order]",),
    ),
    Workflow(
        "menu",
        "gtk3",
        (Click("File"), Click("Export")),
        Subject("Export"),
        ("export",),
    ),
    Workflow(
        "keys",
        "qt5",
        (Click("customer"), Type("customer"), Keys("tab"), Type("order"), Keys("ctrl+s")),
        Subject("reference", filled={"reference": "old"}, types=True),
        ("save",),
        {"customer": "{customer}", "reference": "{order}"},
    ),
    Workflow(
        "dialog",
        "gtk3",
        (Click("Delete [order]"), Click("Yes")),
        Subject("Delete", is_row=True),
        ("delete [order]",),
    ),
    Workflow(
        "note",
        "qt5",
        (Click("note [order]"), Type("note"), Click("Save")),
        Subject("note", is_row=True, filled={"note {order}": "old"}, types=True),
        ("save",),
        {"note [order]": "{note}"},
    ),
    Workflow(
        "context",
        "gtk3",
        (Click("item [item]", button="right"), Click("Flag")),
        Subject("Flag", is_item=True),
        ("flag [item]",),
        {"selected": "[item]"},
    ),
    Workflow(
        "double",
        "qt5",
        (Click("item [item]", clicks=2),),
        Subject("list", is_item=True),
        ("open [item]",),
        {"selected": "[item]"},
    ),
    Workflow(
        "slider",
        "gtk3",
        (Drag("priority 0", "priority 40"), Click("Save")),
        Subject("priority", filled={"priority": 70}),
        ("save",),
        {"priority": 40},
    ),
    Workflow(
        "scroll",
        "qt5",
        (ScrollTo("item [first]", "item [far]"), Click("item [far]", clicks=2)),
        Subject("list", is_item=True),
        ("open [far]",),
        {"selected": "[far]"},
    ),
)
