"""Pictures as a part of an answer."""

from base64 import b64encode

from pydantic import JsonValue

from schemas.http.problems import ProblemError
from schemas.resources.tokens import Scope
from server.api.machines.asking import AskingHandler
from server.dispatch.looks import LookedAt
from server.dispatch.questions.question import Refusal
from server.dispatch.questions.screens import FetchPicture, TakeScreenshot
from server.web.endpoint import Endpoint


async def fetched(
    handler: AskingHandler, question: FetchPicture | TakeScreenshot, endpoint: Endpoint
) -> JsonValue:
    """A picture for the handler's answer, or why there is none: the rest of it is true anyway.

    What came before may have taken minutes, in which a token can be revoked.
    """
    try:
        await handler.authorize(endpoint)
        handler.principal.require(Scope.SCREEN_READ)
    except ProblemError as problem:
        return {"left_out": problem.detail}
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
