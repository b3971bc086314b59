"""Elements that a machine tells of which a test plays."""

from typing import Any

from schemas.link.element_messages import ElementsQuery, ElementsSeen, SeenElement
from schemas.link.messages import Capability, Hello
from schemas.values.pictures import Region
from tests.links import hello
from tests.service import ScriptedLink

CAN = Capability(available=True)


def telling(**options: Any) -> Hello:
    """A greeting of a machine whose screen can be seen, and whose programs tell of elements."""
    return hello(no_screen=None, **options).model_copy(update={"elements": CAN})


def element(role: str = "push button", name: str = "Save", **others: Any) -> SeenElement:
    """An element as a machine tells of it."""
    told: dict[str, Any] = {
        "value": None,
        "states": ["enabled", "showing"],
        "bounds": Region(10, 20, 80, 30),
        "window": "Invoice 4711",
        "application": "accounts",
        "depth": 3,
        "ref": f"ref-{role}-{name}".replace(" ", "-"),
        **others,
    }
    return SeenElement(role=role, name=name, **told)


async def tells(link: ScriptedLink, *elements: SeenElement, **others: Any) -> ElementsQuery:
    """Let the machine tell of these; what it was asked."""
    asked = await link.heard(ElementsQuery)
    await link.say(ElementsSeen(request=asked.request, elements=[*elements], **others))
    return asked
