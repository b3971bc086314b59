"""Which fields texts are known to be in, and what hides them on pictures."""

from typing import Any
from uuid import UUID

import pytest

from schemas.link.element_messages import SeenElement
from schemas.values.pictures import Region
from server.dispatch.recording.before_and_after import BeforeAndAfter, Elements
from server.dispatch.recording.drafts import Draft
from server.dispatch.recording.fields import covers_of, fields_of, is_in_plain_field
from tests.told_elements import element

WINDOW = element("frame", "Invoice 4711", depth=0, bounds=Region(0, 0, 640, 480))
TYPING: dict[str, Any] = {"operation": "keyboard.type", "body": {}}
SETTING: dict[str, Any] = {
    "operation": "element.set_value",
    "body": {"element": {"role": "entry", "name": "Order"}},
}


def field(value: str | None = "", *, focused: bool = True, **others: Any) -> SeenElement:
    """A field in which something can be typed."""
    states = ["editable", "enabled", "showing", *(["focused"] if focused else [])]
    told = {"role": "entry", "name": "Order", "value": value, "states": states, **others}
    return element(told.pop("role"), told.pop("name"), **told)


def password(*, focused: bool = True) -> SeenElement:
    """A password's field, of which nobody tells what is in it."""
    place = Region(10, 60, 80, 30)
    return field(None, focused=focused, role="password text", name="Password", bounds=place)


def seen(*elements: SeenElement) -> Elements:
    return {each.ref: each for each in (WINDOW, *elements)}


def draft(
    before: Elements | None, after: Elements | None, text: str = "4711", **others: Any
) -> Draft:
    """A text that was typed between two looks."""
    options = {**TYPING, "first": 1, "last": 1, "fresh": (True, True), "over": True, **others}
    fresh_before, fresh_after = options.pop("fresh")
    first = BeforeAndAfter(before, fresh_before, options.pop("first"))
    number = options.pop("last")
    last = first if number == first.number else BeforeAndAfter(None, False, number)
    last.after, last.is_after_fresh, last.is_over = after, fresh_after, options.pop("over")
    return Draft(
        command_id=UUID(int=1),
        index=0,
        sender=None,
        through="api",
        began=1,
        ended=2,
        text=text,
        around=first,
        last_around=last,
        **options,
    )


@pytest.mark.parametrize(
    ("before", "after", "options", "is_kept"),
    [
        (seen(field()), seen(field("4711")), {}, True),
        (seen(field("of ")), seen(field("of 47114711")), {"text": "47114711"}, True),
        (seen(field("4711")), seen(field("47114711")), {}, True),
        # It was there before: nothing tells that it was typed there.
        (seen(field("4711")), seen(field("4711")), {}, False),
        # The focus has moved on to a password's field while it was typed.
        (seen(field()), seen(field("47", focused=False), password()), {}, False),
        (seen(field()), seen(field(focused=False), password()), {}, False),
        (seen(password()), seen(password()), {}, False),
        (seen(field()), seen(field(None)), {}, False),
        # A password that was shown after it had been typed is another element than before.
        (seen(password()), seen(field("4711", name="Password")), {}, False),
        (seen(field()), seen(field("4711", role="terminal")), {}, False),
        (seen(field(role="terminal")), seen(field("4711", role="terminal")), {}, False),
        (seen(field(states=["focused"])), seen(field("4711", states=["focused"])), {}, False),
        # Of a long text not all is told.
        (seen(field()), seen(field(f"4711{'x' * 495}…")), {}, False),
        (None, seen(field("4711")), {}, False),
        (seen(field()), None, {}, False),
        (seen(field()), None, {"over": False}, None),
        (seen(field()), seen(field("47")), {"over": False}, None),
        # Nobody knows that it had the focus.
        (seen(field(focused=False)), seen(field("4711", focused=False)), {}, False),
        # It had it, and after the text it was only left.
        (seen(field()), seen(field("4711", focused=False)), {"fresh": (True, False)}, True),
        (seen(field()), seen(field("4711", focused=False)), {"fresh": (False, False)}, False),
        (seen(field(focused=False)), seen(field("4711")), {"fresh": (False, True)}, True),
        # A hand's text, with nothing and with something else in between.
        (seen(field()), seen(field("4711")), {"last": 4, "inputs": 4}, True),
        (seen(field()), seen(field("4711")), {"last": 5, "inputs": 4}, False),
        (seen(field()), seen(field("")), {"text": ""}, False),
        # A value that is set has its own element.
        (seen(field(focused=False)), seen(field("4711", focused=False)), SETTING, True),
        (
            seen(field(name="Other")),
            seen(field("4711", name="Other")),
            SETTING,
            False,
        ),
        (
            seen(field(focused=False)),
            seen(field("4711", focused=False)),
            {**SETTING, "fresh": (True, False)},
            False,
        ),
    ],
)
def test_text_is_kept_only_where_a_plain_field_was_seen_to_take_it(
    before: Elements | None, after: Elements | None, options: dict[str, Any], is_kept: bool | None
) -> None:
    assert is_in_plain_field(draft(before, after, **options)) is is_kept


def test_text_around_which_nothing_is_known_is_not_kept() -> None:
    unknown = draft(seen(field()), seen(field("4711")))
    unknown.around = None
    assert is_in_plain_field(unknown) is False
    assert covers_of(unknown) == (None, None)
    assert fields_of(unknown) == {field().ref}


def test_field_hides_a_text_or_else_its_window_or_the_active_one() -> None:
    box = password().bounds
    assert covers_of(draft(seen(password()), seen(password()))) == ((box, box), (box, box))
    # What came after is not known.
    one = draft(seen(password()), seen(password()), fresh=(True, False))
    assert covers_of(one) == ((box,), None)
    terminal = seen(element("terminal", "sh", states=["focused"]))
    assert covers_of(draft(terminal, terminal)) == ((WINDOW.bounds,) * 2,) * 2
    active = element("frame", "Other", depth=0, states=["active"], bounds=Region(5, 5, 9, 9))
    nothing = seen(active)
    assert covers_of(draft(nothing, nothing)) == ((active.bounds,) * 2,) * 2
    assert covers_of(draft(seen(), seen())) == (None, None)
    together = draft(seen(password()), seen(password()), is_alone=False)
    assert covers_of(together) == (None, None)


def test_field_of_a_value_is_the_one_that_it_was_set_in() -> None:
    shown = seen(field("4711", focused=False), password())
    setting = draft(shown, shown, **SETTING)
    assert fields_of(setting) == {field().ref}
    assert covers_of(setting) == ((field().bounds,) * 2,) * 2
