"""Stands in for a desktop on a machine where there is no way to one."""

from typing import NoReturn

from machine_client.desktop import base
from schemas.inputs.clipboard_texts import Selection
from schemas.inputs.outcomes import Point
from schemas.link.messages import Display


class UnavailableDesktop:
    """See `machine_client.desktop.base.Desktop`; ``reason`` says to a person what is missing."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def open_input(self) -> base.DesktopInput:
        raise base.InjectionUnavailable(self._reason)

    def open_view(self) -> base.DesktopView:
        return _BlindView(self._reason)

    def why_no_clipboard(self) -> str | None:
        return self._reason

    def read_clipboard(self, selection: Selection) -> str:
        raise base.ClipboardError("clipboard_unavailable", self._reason)

    def elements(self) -> base.DesktopElements:
        return base.NoElements(self._reason)

    def checks(self) -> tuple[base.DesktopCheck, ...]:
        return (base.DesktopCheck("display", self._look, self._reason),)

    def _look(self) -> NoReturn:
        raise base.InjectionUnavailable(self._reason)


class _BlindView:
    """Sees nothing, and says why."""

    def __init__(self, reason: str) -> None:
        self._error = base.DesktopError("screen_unavailable", reason)

    def displays(self) -> list[Display]:
        raise self._error

    def pointer(self) -> Point:
        raise self._error

    def capture(self, *, pointer: bool = True) -> NoReturn:
        raise self._error

    def wait_until_drawn(self, seconds: float) -> bool:
        raise self._error

    def close(self) -> None:
        """There is nothing to close."""
