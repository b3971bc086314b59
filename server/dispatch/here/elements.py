"""The elements of the screen of a machine of this node."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from schemas.inputs.selectors import Selector
from schemas.link.element_messages import ElementsSeen, SeenElement
from server.dispatch.here.selectors import by_ref, selectors_of, sought_like
from server.dispatch.questions.elements import ANSWER_SECONDS, ElementsFound, FindElements
from server.dispatch.refusals import (
    RefusedError,
    busy,
    just_disconnected,
    no_elements,
    not_on_screen,
    without_elements,
)
from server.machines.link.errors import LinkBusyError, LinkDownError, LinkLostError
from server.machines.screens import MachineScreen, NotOnScreenError, ScreenUnavailableError
from server.machines.socket import LinkSocket

MOST_ASKED_AGAIN = 3
"""Of an answer that does not have all that there is: so many of its elements get a selector."""

MOST_ALIKE = 50
"""Elements of one role and name among which one is told apart."""

Answer = TypeVar("Answer")


def check_elements(link: LinkSocket) -> None:
    """Raise RefusedError where a machine does not tell what elements it has."""
    if (why := link.desktop.why_no_elements) is not None:
        raise RefusedError(without_elements(why))


async def find_elements(link: LinkSocket, question: FindElements) -> ElementsFound:
    """What elements there are, each with what finds it again.  Raises RefusedError."""
    check_elements(link)
    seen = await _asked(
        link,
        lambda screen: screen.elements(
            question.sought, question.at, question.limit, question.depth, ANSWER_SECONDS
        ),
    )
    return ElementsFound(
        elements=seen.elements,
        selectors=await _selectors(link, question, seen),
        truncated=seen.truncated,
        silent=seen.silent,
    )


async def _selectors(
    link: LinkSocket, question: FindElements, seen: ElementsSeen
) -> list[Selector]:
    is_whole = question.at is None and question.depth is None
    if is_whole and seen.truncated is None and not seen.silent:
        return selectors_of(seen.elements, seen.elements, question.sought)
    asked, rest = seen.elements[:MOST_ASKED_AGAIN], seen.elements[MOST_ASKED_AGAIN:]
    return [await _told_apart(link, each) for each in asked] + [by_ref(each) for each in rest]


async def _told_apart(link: LinkSocket, element: SeenElement) -> Selector:
    """The selector of one element among all that are like it."""
    sought = sought_like(element)
    if sought is None:
        return by_ref(element)
    alike = await _asked(
        link, lambda screen: screen.elements(sought, None, MOST_ALIKE, None, ANSWER_SECONDS)
    )
    if alike.truncated is not None or alike.silent:
        return by_ref(element)
    return selectors_of([element], alike.elements, sought)[0]


async def _asked(
    link: LinkSocket, question: Callable[[MachineScreen], Awaitable[Answer]]
) -> Answer:
    try:
        return await question(link.screen)
    except ScreenUnavailableError as error:
        raise RefusedError(no_elements(str(error), error.since)) from None
    except NotOnScreenError as error:
        loc = "query", *error.field.split(".")
        raise RefusedError(not_on_screen(str(error), error.code, loc)) from None
    except LinkBusyError:
        raise RefusedError(busy("questions about its screen as it may")) from None
    except (LinkDownError, LinkLostError):
        raise RefusedError(just_disconnected()) from None
    except TimeoutError:
        why = f"it did not answer within {ANSWER_SECONDS:g} s"
        raise RefusedError(no_elements(why, None)) from None
