"""What a machine can do: a function for each action makes what :meth:`Machine.actions` takes.

Places are pixels of the machine's desktop, or of a picture of it whose size is given as
``picture``.  Each is a dict as ``POST /v1/computer/{id}/actions`` takes it.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

Action = dict[str, Any]
Button = Literal["left", "right", "middle", "back", "forward"]
Direction = Literal["up", "down", "left", "right"]
Size = tuple[int, int]
"""Width and height."""


def _action(operation: str, **fields: Any) -> Action:
    """An action with the fields that say something; what is None is left to the server."""
    given = {name: value for name, value in fields.items() if value is not None and value != ()}
    size = given.pop("picture", None)
    if size is not None:
        given["in"] = {"width": size[0], "height": size[1]}
    if "modifiers" in given:
        given["modifiers"] = list(given["modifiers"])
    if "path" in given:
        given["path"] = [{"x": x, "y": y} for x, y in given["path"]]
    return {"operation": operation, **given}


def click(
    x: int | None = None,
    y: int | None = None,
    *,
    button: Button = "left",
    clicks: int = 1,
    down: bool | None = None,
    modifiers: Sequence[str] = (),
    picture: Size | None = None,
) -> Action:
    """Click at a place, or where the pointer is.

    ``clicks`` is 1 to 3.  ``down=True`` presses alone, ``False`` releases alone.  ``modifiers``,
    such as ``["ctrl"]``, are held meanwhile.
    """
    return _action(
        "mouse.click",
        x=x,
        y=y,
        button=button,
        clicks=clicks,
        down=down,
        modifiers=modifiers,
        picture=picture,
    )


def move(
    x: int,
    y: int,
    *,
    path: Iterable[tuple[int, int]] | None = None,
    modifiers: Sequence[str] = (),
    picture: Size | None = None,
) -> Action:
    """Move the pointer to a place, past the places of ``path`` in their order."""
    return _action("mouse.move", x=x, y=y, path=path, modifiers=modifiers, picture=picture)


def drag(
    start_x: int,
    start_y: int,
    to_x: int,
    to_y: int,
    *,
    duration: float | None = None,
    button: Button = "left",
    path: Iterable[tuple[int, int]] | None = None,
    modifiers: Sequence[str] = (),
    picture: Size | None = None,
) -> Action:
    """Press a button at a place, travel to another, past ``path``, and release it there.

    ``duration`` is in seconds, at most 60; without it, it is a few quick moves.
    """
    return _action(
        "mouse.drag",
        start_x=start_x,
        start_y=start_y,
        to_x=to_x,
        to_y=to_y,
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
    modifiers: Sequence[str] = (),
    picture: Size | None = None,
) -> Action:
    """Turn the wheel by ``amount`` notches, at a place or where the pointer is."""
    return _action(
        "mouse.scroll",
        direction=direction,
        amount=amount,
        x=x,
        y=y,
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


def pause(seconds: float) -> Action:
    """Let time pass, at most 120 s."""
    return _action("wait", seconds=seconds)


def wait_for(
    *conditions: Mapping[str, Any],
    timeout: float | None = None,
    on_timeout: Literal["stop", "continue"] | None = None,
) -> Action:
    """Wait until the screen meets one of the conditions, such as :func:`still` or :func:`changed`.

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
