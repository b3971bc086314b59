"""The displays of this desktop, through mss."""

from mss import MSS
from mss.exception import ScreenShotError

from machine_client.desktop import DesktopError
from schemas.wire import Display


def displays(display: str | None = None) -> list[Display]:
    """Say where each screen is, at least one, in the pixels that inputs use.

    ``display`` is the X display; None is the environment's.  Opens a connection of its own and
    closes it: some milliseconds.  Raises DesktopError of code "display_unknown".
    """
    try:
        with MSS(display=display) if display is not None else MSS() as source:
            # The first is the smallest rectangle around all of them, and alone where the
            # system does not tell its screens apart.
            around, *screens = source.monitors
    except (ScreenShotError, OSError) as error:
        raise DesktopError(
            "display_unknown", f"The displays of this machine cannot be told: {error}"
        ) from error
    return [
        Display(
            x=monitor["left"], y=monitor["top"], width=monitor["width"], height=monitor["height"]
        )
        for monitor in screens or [around]
    ]
