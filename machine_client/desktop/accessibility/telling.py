"""Elements as they are told to whoever asked: cut to what a message holds."""

from collections.abc import Iterable, Sequence

from machine_client.desktop.accessibility.looking import Seen
from machine_client.desktop.accessibility.programs import Program
from machine_client.desktop.accessibility.refs import ref_of
from machine_client.desktop.base import ListedElements
from schemas.link.element_messages import (
    MAX_ELEMENTS_BYTES,
    MAX_NAME,
    MAX_SILENT,
    MAX_VALUE,
    SeenElement,
    Truncation,
)
from schemas.values.pictures import Region


def told(
    seen: Sequence[Seen],
    places: Iterable[tuple[Region | None, list[Region]]],
    programs: Iterable[Program],
    *,
    is_limited: bool,
) -> ListedElements:
    """What is said of elements, and why these are not all.

    ``places`` are the bounds of each, and what of these is covered.
    """
    elements: list[SeenElement] = []
    size = 0
    truncated: Truncation | None = "limit" if is_limited else None
    for each, where in zip(seen, places, strict=True):
        element = _told(each, *where)
        size += len(element.model_dump_json()) + 1
        if size > MAX_ELEMENTS_BYTES:
            truncated = "size"
            break
        elements.append(element)
    asked = [*programs]
    if truncated is None and any(program.is_cut for program in asked):
        truncated = "time"
    silent = [program.title or "a program" for program in asked if program.is_silent]
    return ListedElements(
        tuple(elements), truncated, tuple(_cut(name, MAX_NAME) for name in silent[:MAX_SILENT])
    )


def _told(seen: Seen, bounds: Region | None, covered: list[Region]) -> SeenElement:
    program, node = seen
    return SeenElement(
        role=node.role,
        name=_cut(node.name, MAX_NAME),
        value=None if node.value is None else _cut(node.value, MAX_VALUE),
        states=[*node.words()],
        bounds=bounds,
        covered=covered,
        window=_cut(node.window.name, MAX_NAME),
        application=_cut(program.title, MAX_NAME),
        depth=node.depth,
        ref=ref_of(node),
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
