"""Pictures as a part of an answer."""

from base64 import b64encode

from pydantic import JsonValue

from server.api.machines.asking import AskingHandler
from server.dispatch.looks import LookedAt
from server.dispatch.questions.question import Refusal
from server.dispatch.questions.screens import FetchPicture, TakeScreenshot


async def fetched(handler: AskingHandler, question: FetchPicture | TakeScreenshot) -> JsonValue:
    """A picture for the handler's answer, or why there is none: the rest of it is true anyway."""
    taken = await handler.services.machines.dispatcher.ask(question)
    if isinstance(taken, Refusal):
        return {"left_out": taken.detail}
    looks = handler.services.machines.looks
    looks.looked(handler.sender(None), question.machine_id, LookedAt.SCREEN)
    return {
        "format": taken.format,
        "width": taken.size.width,
        "height": taken.size.height,
        "region": taken.region._asdict(),
        "content": b64encode(taken.content).decode(),
    }
