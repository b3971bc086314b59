"""Stands in for a desktop on a machine where there is no way to one."""

from typing import NoReturn

from machine_client.desktop.base import (
    ClipboardError,
    DesktopCheck,
    DesktopError,
    DesktopInput,
    DesktopView,
    InjectionUnavailable,
)
from schemas.inputs.clipboard_texts import Selection
from schemas.inputs.outcomes import Point
from schemas.link.messages import Display


class UnavailableDesktop:
    """See `machine_client.desktop.base.Desktop`; ``reason`` says to a person what is missing."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def open_input(self) -> DesktopInput:
        raise InjectionUnavailable(self._reason)

    def open_view(self) -> DesktopView:
        return _BlindView(self._reason)

    def why_no_clipboard(self) -> str | None:
        return self._reason

    def read_clipboard(self, selection: Selection) -> str:
        raise ClipboardError("clipboard_unavailable", self._reason)

    def checks(self) -> tuple[DesktopCheck, ...]:
        return (DesktopCheck("display", self._look, self._reason),)

    def _look(self) -> NoReturn:
        raise InjectionUnavailable(self._reason)


class _BlindView:
    """Sees nothing, and says why."""

    def __init__(self, reason: str) -> None:
        self._error = DesktopError("screen_unavailable", reason)

    def displays(self) -> list[Display]:
        raise self._error

    def pointer(self) -> Point:
        raise self._error

    def capture(self) -> NoReturn:
        raise self._error

    def close(self) -> None:
        """There is nothing to close."""
