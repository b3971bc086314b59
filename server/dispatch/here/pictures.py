"""Where the screen of a machine of this node shows a part of a recorded picture."""

from schemas.inputs.pictures import Area
from schemas.values.pictures import Region
from server.dispatch.here.screens import without_pointer
from server.dispatch.questions.pictures import FindRecorded, PlacesFound
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
        picture=Region(0, 0, width, height),
        length=len(recorded),
        core=_region(question.core),
        line=_region(question.line),
        around=_region(question.around),
        scale=question.scale,
        text_at=question.text_at,
    )
    caller = caller_of(question.organization_id, question.machine_id)
    try:
        return PlacesFound(places=await vision.places(caller, part, recorded, taken.picture))
    except VisionBusyError:
        raise RefusedError(busy("pictures to be looked at as it may")) from None
    except VisionError as error:
        raise RefusedError(no_vision(str(error))) from None


def _region(area: Area) -> Region:
    return Region(area.x, area.y, area.width, area.height)
