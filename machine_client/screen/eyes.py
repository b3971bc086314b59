"""How several actions look at the screen, in the thread that carries them out."""

import logging
from collections.abc import Callable
from uuid import UUID

from machine_client.desktop.base import (
    ELEMENTS_UNTOLD,
    DesktopElements,
    DesktopError,
    DesktopView,
    RawFrame,
    Refusal,
)
from machine_client.screen.capturer import NO_SCREEN, take_picture
from machine_client.screen.encoding import part_of
from machine_client.screen.sender import (
    ActionPlace,
    EncodedPicture,
    FrameOffered,
    PictureKept,
    Sight,
)
from machine_client.screen.waits import OpenView, check_regions, offered_to_nobody, shower
from machine_client.screen.watching import watch
from schemas.inputs.actions import MAX_PICTURES_BYTES, ClosingPicture, TakePicture, WaitFor
from schemas.inputs.waits import Still
from schemas.values.pictures import Region

logger = logging.getLogger(__name__)

IsInterrupted = Callable[[], bool]


class ScreenEyes:
    """See `machine_client.work.batch.Eyes`.

    ``keep`` takes each picture, and ``offer`` each frame that the node is to judge.  Without
    ``open_view`` nobody may look at the screen.
    """

    def __init__(
        self,
        open_view: OpenView,
        keep: Callable[[PictureKept], None],
        offer: Callable[[FrameOffered], None] = offered_to_nobody,
        elements: DesktopElements = ELEMENTS_UNTOLD,
    ) -> None:
        self._open_view = open_view
        self._elements = elements
        self._keep = keep
        self._offer = offer
        self._view: DesktopView | None = None
        self._bytes_left = MAX_PICTURES_BYTES

    def check(self, wanted: TakePicture | ClosingPicture | WaitFor) -> None:
        displays = self._opened().displays()
        if isinstance(wanted, WaitFor):
            check_regions(wanted.any, displays)
        else:
            part_of(Region.around(displays), wanted, displays)

    def frame(self) -> RawFrame:
        return self._opened().capture(pointer=False)

    def wait_for(
        self,
        place: ActionPlace,
        wait: WaitFor,
        before: RawFrame | None,
        is_interrupted: IsInterrupted,
    ) -> Sight:
        return watch(
            self._opened(),
            wait.any,
            wait.timeout,
            before=before,
            show=shower(place, self._offer),
            is_over=is_interrupted,
            elements=self._elements,
        )

    def take(
        self,
        command_id: UUID,
        action: int | None,
        wanted: TakePicture | ClosingPicture,
        is_interrupted: IsInterrupted,
    ) -> None:
        try:
            if isinstance(wanted, ClosingPicture) and wanted.settle:
                self._settle(wanted, is_interrupted)
            picture = take_picture(self._opened(), wanted)
        except Refusal as refusal:
            why = refusal.outcome.message
        except DesktopError as error:
            why = str(error)
        except Exception as error:  # a picture is no part of what the actions did
            logger.exception("command=%s has no picture", command_id)
            why = f"the machine client made a mistake ({type(error).__name__})"
        else:
            why = self._why_too_large(picture)
            if not why:
                self._bytes_left -= len(picture.content)
                self._keep(PictureKept(command_id, action, picture))
                return
        self._keep(PictureKept(command_id, action, why_none=why))

    def close(self) -> None:
        """Let go of the screen; the next command opens it anew."""
        view, self._view = self._view, None
        self._bytes_left = MAX_PICTURES_BYTES
        if view is not None:
            try:
                view.close()
            except Exception:  # whoever waits for the command's end must hear of it
                logger.exception("the screen cannot be let go of")

    def _settle(self, wanted: ClosingPicture, is_interrupted: IsInterrupted) -> None:
        # Shorter than whoever waits for stillness may ask for.
        still = Still.model_construct(still=wanted.settle, region=None, ignore=())
        watch(
            self._opened(),
            (still,),
            wanted.longest_settling,
            is_over=is_interrupted,
            elements=self._elements,
        )

    def _why_too_large(self, picture: EncodedPicture) -> str:
        if (size := len(picture.content)) <= self._bytes_left:
            return ""
        return (
            f"the picture has {size} bytes, and of the {MAX_PICTURES_BYTES} for all pictures "
            f"{self._bytes_left} are left: ask for smaller ones, or for JPEG or WebP"
        )

    def _opened(self) -> DesktopView:
        if self._open_view is None:
            raise DesktopError("screen_unavailable", NO_SCREEN)
        if self._view is None:
            self._view = self._open_view()
        return self._view
