"""Which texts the screen of a machine of this node shows."""

from server.dispatch.here.screens import without_pointer
from server.dispatch.questions.texts import ReadTexts, TextsRead
from server.dispatch.refusals import RefusedError, busy, no_vision
from server.machines.shown_frames import caller_of
from server.machines.socket import LinkSocket
from server.vision.vision import Vision, VisionBusyError, VisionError


async def read_texts(vision: Vision, link: LinkSocket, question: ReadTexts) -> TextsRead:
    """The texts that its screen shows now.  Raises RefusedError."""
    taken = await without_pointer(link, question, question.region)
    caller = caller_of(question.organization_id, question.machine_id)
    try:
        texts = await vision.texts(caller, taken.picture)
    except VisionBusyError:
        raise RefusedError(busy("pictures to be read as it may")) from None
    except VisionError as error:
        raise RefusedError(no_vision(str(error))) from None
    return TextsRead(texts=texts, region=taken.region)
