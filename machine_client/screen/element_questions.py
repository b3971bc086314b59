"""What the server asks of the elements on the screen, each question in a thread of its own."""

import logging
from collections.abc import Callable

from machine_client.concurrency.threads import daemon_thread
from machine_client.desktop.base import DesktopElements, DesktopError
from machine_client.screen import sender
from schemas.inputs.outcomes import ELEMENTS_UNAVAILABLE
from schemas.link.element_messages import ElementsQuery

logger = logging.getLogger(__name__)


class ElementQuestions:
    """Answers questions about elements; ``report`` takes each answer, from a thread."""

    def __init__(
        self, elements: DesktopElements, report: Callable[[sender.ScreenResult], None]
    ) -> None:
        self._elements = elements
        self._report = report

    def begin(self, query: ElementsQuery) -> None:
        """Look for what it asks; never takes any time.  The sender bounds how many there are."""
        daemon_thread(lambda: self._report(self._answer(query)), "elements").start()

    def _answer(self, query: ElementsQuery) -> sender.ScreenResult:
        try:
            listed = self._elements.listed(
                query.sought, at=query.at, limit=query.limit, depth=query.depth
            )
        except DesktopError as error:
            return sender.OrderFailed(query, str(error), ELEMENTS_UNAVAILABLE)
        except Exception as error:  # somebody waits for its end, whatever that is
            logger.exception("a question about elements failed")
            mistake = f"the machine client made a mistake ({type(error).__name__})"
            return sender.OrderFailed(query, mistake)
        return sender.ElementsListed(query, listed.elements, listed.truncated, listed.silent)
