"""What a machine can do: a function for each action makes what :meth:`Machine.actions` takes.

Places are pixels of the machine's desktop, or of a picture of it whose size is given as
``picture``; in the place of one an element can be named, as :func:`element` does it.  Each action
is a dict as ``POST /v1/computer/{id}/actions`` takes it.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

Action = dict[str, Any]
Button = Literal["left", "right", "middle", "back", "forward"]
Direction = Literal["up", "down", "left", "right"]
Size = tuple[int, int]
"""Width and height."""


class Found(Protocol):
    """An element that was found, such as :class:`farhand.types.Element`."""

    @property
    def selector(self) -> Mapping[str, str]:
        """What finds it again, and no other."""


Meant = Mapping[str, str] | Found
"""What :func:`element` makes, or an element that was found."""

_ELEMENTS = ("element", "start_element", "to_element")


def element(
    role: str | None = None,
    name: str | None = None,
    *,
    text: str | None = None,
    value: str | None = None,
    window: str | None = None,
    application: str | None = None,
    ref: str | None = None,
) -> dict[str, str]:
    """Which element of the screen is meant, such as ``element("push button", "Save")``.

    ``name``, ``value``, ``window`` and ``application`` are globs: ``*`` is any text, ``?`` any
    character.  ``text`` stands somewhere in its name or its value.  ``ref`` is what a list of
    elements called it.  Where none or several are like this, nothing happens.
    """
    given = {
        "role": role,
        "name": name,
        "text": text,
        "value": value,
        "window": window,
        "application": application,
        "ref": ref,
    }
    return {key: said for key, said in given.items() if said is not None}


def selector_of(meant: Meant) -> dict[str, str]:
    """The selector of an element, however it is named."""
    return dict(meant if isinstance(meant, Mapping) else meant.selector)


def _action(operation: str, **fields: Any) -> Action:
    """An action with the fields that say something; what is None is left to the server."""
    given = {name: value for name, value in fields.items() if value is not None and value != ()}
    size = given.pop("picture", None)
    if size is not None:
        given["in"] = {"width": size[0], "height": size[1]}
    if "modifiers" in given:
        given["modifiers"] = list(given["modifiers"])
    for field in given.keys() & _ELEMENTS:
        given[field] = selector_of(given[field])
    if "path" in given:
        given["path"] = [{"x": x, "y": y} for x, y in given["path"]]
    return {"operation": operation, **given}


def click(
    x: int | None = None,
    y: int | None = None,
    *,
    element: Meant | None = None,
    button: Button = "left",
    clicks: int = 1,
    down: bool | None = None,
    modifiers: Sequence[str] = (),
    picture: Size | None = None,
) -> Action:
    """Click at a place, at an element, or where the pointer is.

    ``clicks`` is 1 to 3.  ``down=True`` presses alone, ``False`` releases alone.  ``modifiers``,
    such as ``["ctrl"]``, are held meanwhile.
    """
    return _action(
        "mouse.click",
        x=x,
        y=y,
        element=element,
        button=button,
        clicks=clicks,
        down=down,
        modifiers=modifiers,
        picture=picture,
    )


def move(
    x: int | None = None,
    y: int | None = None,
    *,
    element: Meant | None = None,
    path: Iterable[tuple[int, int]] | None = None,
    modifiers: Sequence[str] = (),
    picture: Size | None = None,
) -> Action:
    """Move the pointer to a place or an element, past the places of ``path`` in their order."""
    if element is None and None in (x, y):
        raise TypeError("a move needs a place: x and y, or an element")
    return _action(
        "mouse.move",
        x=x,
        y=y,
        element=element,
        path=path,
        modifiers=modifiers,
        picture=picture,
    )


def drag(
    start_x: int | None = None,
    start_y: int | None = None,
    to_x: int | None = None,
    to_y: int | None = None,
    *,
    start_element: Meant | None = None,
    to_element: Meant | None = None,
    duration: float | None = None,
    button: Button = "left",
    path: Iterable[tuple[int, int]] | None = None,
    modifiers: Sequence[str] = (),
    picture: Size | None = None,
) -> Action:
    """Press a button at a place, travel to another, past ``path``, and release it there.

    Each of the two is a place or an element.  ``duration`` is in seconds, at most 60; without it,
    it is a few quick moves.
    """
    starts = start_element is not None or None not in (start_x, start_y)
    if not (starts and (to_element is not None or None not in (to_x, to_y))):
        raise TypeError("a drag needs two places: start_x, start_y, to_x and to_y, or elements")
    return _action(
        "mouse.drag",
        start_x=start_x,
        start_y=start_y,
        to_x=to_x,
        to_y=to_y,
        start_element=start_element,
        to_element=to_element,
        duration=duration,
        button=button,
        path=path,
        modifiers=modifiers,
        picture=picture,
    )


def scroll(
    direction: Direction,
    amount: int,
    x: int | None = None,
    y: int | None = None,
    *,
    element: Meant | None = None,
    modifiers: Sequence[str] = (),
    picture: Size | None = None,
) -> Action:
    """Turn the wheel by ``amount`` notches, at a place or an element or where the pointer is."""
    return _action(
        "mouse.scroll",
        direction=direction,
        amount=amount,
        x=x,
        y=y,
        element=element,
        modifiers=modifiers,
        picture=picture,
    )


def key(
    text: str, *, down: bool | None = None, hold: float | None = None, repeat: int | None = None
) -> Action:
    """Press keys: ``ctrl+a`` is a chord, ``down down enter`` three one after another.

    ``hold`` is for how many seconds they are held, ``repeat`` how often all of it is done, 1 to
    100.  ``down=True`` presses alone, ``False`` releases alone.
    """
    return _action("keyboard.key", text=text, down=down, hold=hold, repeat=repeat)


def type(text: str) -> Action:  # noqa: A001 - as everybody calls it
    """Type a text of up to 10,000 characters; a line's end is Return."""
    return _action("keyboard.type", text=text)


def write_clipboard(
    text: str, *, selection: Literal["clipboard", "primary"] = "clipboard"
) -> Action:
    """Copy a text, for whoever pastes.  ``primary`` is what X11 pastes with the middle button."""
    return _action("clipboard.write", text=text, selection=selection)


def invoke(element: Meant) -> Action:
    """Have an element do what it is there for, such as a button what a click does.

    No pointer moves, and it may be covered.
    """
    return _action("element.invoke", element=element)


def set_value(element: Meant, value: str | float) -> Action:
    """Put a text into a field, or a number into what has one, such as a slider."""
    return _action("element.set_value", element=element, value=value)


def focus(element: Meant) -> Action:
    """Put the keyboard's focus on an element."""
    return _action("element.focus", element=element)


def pause(seconds: float) -> Action:
    """Let time pass, at most 120 s."""
    return _action("wait", seconds=seconds)


def wait_for(
    *conditions: Mapping[str, Any],
    timeout: float | None = None,
    on_timeout: Literal["stop", "continue"] | None = None,
) -> Action:
    """Wait until the screen meets one of the conditions, such as :func:`still` or :func:`seen`.

    ``timeout`` is in seconds, 10 where none is given; after it nothing more is done, unless
    ``on_timeout`` is ``continue``.
    """
    return _action("wait_for", any=list(conditions), timeout=timeout, on_timeout=on_timeout)


def screenshot(**wanted: Any) -> Action:
    """Take a picture; ``wanted`` is as for :meth:`Machine.screenshot`."""
    return _action("screenshot", **wanted)


def still(seconds: float = 0.5, **where: Any) -> dict[str, Any]:
    """The condition that nothing has changed for so long; a blinking caret is still.

    ``region`` looks at a part of the desktop alone, ``ignore`` is a list of parts that do not
    count, each ``{"x", "y", "width", "height"}``.
    """
    return {"still": seconds, **where}


def changed(**where: Any) -> dict[str, Any]:
    """The condition that the screen has changed: since before the action in front of the wait.

    ``region`` and ``ignore`` are as for :func:`still`.
    """
    return {"changed": True, **where}


def text(text: str, **how: Any) -> dict[str, Any]:
    """The condition that a text stands on the screen, as it is written, in whole words of one line.

    ``region`` looks at a part of the desktop alone; ``gone=True`` is that it is there no more.
    """
    return {"text": text, **how}


def picture(picture: str | bytes, **how: Any) -> dict[str, Any]:
    """The condition that a picture is to be seen: the id of a kept one, or a PNG or JPEG file.

    ``near`` is ``{"x", "y"}``, where its middle was; ``similarity`` is 0.7 to 1; ``region`` and
    ``gone`` are as for :func:`text`.
    """
    if isinstance(picture, bytes):
        picture = base64.b64encode(picture).decode()
    return {"picture": picture, **how}


def seen(element: Meant, *, gone: bool = False) -> dict[str, Any]:
    """The condition that an element can be seen, or with ``gone`` that it cannot any more."""
    return {"element": selector_of(element), **({"gone": True} if gone else {})}
