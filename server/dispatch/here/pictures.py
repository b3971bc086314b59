"""Where the screen of a machine of this node shows a part of a recorded picture."""

from schemas.inputs.pictures import Area
from schemas.values.pictures import Region
from server.dispatch.here.screens import without_pointer
from server.dispatch.questions.pictures import FindRecorded, PlacesFound
from server.dispatch.questions.screens import PictureTaken
from server.dispatch.refusals import RefusedError, busy, no_vision
from server.machines.shown_frames import caller_of
from server.machines.socket import LinkSocket
from server.store.trajectories.pictures import PictureStore
from server.vision.findings import Part
from server.vision.picture_sizes import NoPictureError, size_of
from server.vision.vision import Vision, VisionBusyError, VisionError


async def find_recorded(
    vision: Vision, pictures: PictureStore, link: LinkSocket, question: FindRecorded
) -> PlacesFound:
    """Where it may be now.  Raises RefusedError and StoreUnavailable."""
    kept = await pictures.get(question.organization_id, question.picture)
    if kept is None:
        raise RefusedError(no_vision("the recorded picture is not kept any more"))
    recorded = kept[1]
    try:
        width, height = size_of(recorded)
    except NoPictureError as error:
        raise RefusedError(no_vision(f"the recorded picture cannot be read: {error}")) from None
    taken = await without_pointer(link, question)
    part = Part(
        picture=_shown_then((width, height), taken),
        length=len(recorded),
        core=_region(question.core),
        line=_region(question.line),
        around=_region(question.around),
        scale=question.scale,
        text_at=question.text_at,
        for_keys=question.for_keys,
        rested=question.rested,
    )
    typed = await _typed(pictures, question)
    part = part.model_copy(update={"typed": tuple((len(one), len(other)) for one, other in typed)})
    recorded = b"".join((recorded, *(each for both in typed for each in both)))
    caller = caller_of(question.organization_id, question.machine_id)
    try:
        return PlacesFound(places=await vision.places(caller, part, recorded, taken.picture))
    except VisionBusyError:
        raise RefusedError(busy("pictures to be looked at as it may")) from None
    except VisionError as error:
        raise RefusedError(no_vision(str(error))) from None


async def _typed(pictures: PictureStore, question: FindRecorded) -> list[tuple[bytes, bytes]]:
    """The pictures from before and after each text; without those that are not kept any more."""
    found = []
    for each in question.typed:
        before = await pictures.get(question.organization_id, each.before)
        after = await pictures.get(question.organization_id, each.after)
        if before is not None and after is not None:
            found.append((before[1], after[1]))
    return found


def _shown_then(size: tuple[int, int], taken: PictureTaken) -> Region:
    """What of the desktop a recorded picture shows: all of it, from where its screens begin now.

    Where a screen draws several pixels for each of the desktop's, it did so then.
    """
    if size == tuple(taken.picture.size):
        return taken.region
    return Region(0, 0, *size)


def _region(area: Area) -> Region:
    return Region(area.x, area.y, area.width, area.height)
