"""Which texts a machine's screen shows, with their places."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from schemas.http import problems
from schemas.resources.machines import ScreenTexts
from schemas.resources.tokens import Scope
from schemas.values.strict import StrictModel
from server.api.looks.areas import AreaText, area_of
from server.api.looks.sights import check_vision
from server.api.machines.asking import AskingHandler
from server.api.machines.paths import MachinePath
from server.dispatch.looks import LookedAt
from server.dispatch.questions.texts import ReadTexts
from server.web.endpoint import Endpoint


class TextsQuery(StrictModel):
    """Where to read."""

    region: Annotated[AreaText | None, BeforeValidator(area_of)] = Field(
        None,
        description="x,y,width,height: only this part of the desktop, in its pixels; a small one "
        "is read much sooner.",
    )


class TextsHandler(AskingHandler):
    @Endpoint(
        summary="Read the texts on the screen",
        description="Line by line, each with its place, as they are now.  Reading is no proof: O "
        "and 0, l and 1 look alike to it.",
        scope=Scope.SCREEN_READ,
        path=MachinePath,
        query=TextsQuery,
        answers={200: ScreenTexts},
        problems=(
            problems.NOT_FOUND,
            problems.MACHINE_BUSY,
            problems.MACHINE_UNAVAILABLE,
            problems.NOT_INSTALLED,
        ),
    )
    async def get(self, path: MachinePath, query: TextsQuery) -> None:
        check_vision(self)
        question = ReadTexts(**self.looking_at(path.machine_id), region=query.region)
        read = await self.look(question, LookedAt.SCREEN)
        texts = [
            {"text": each.text, "score": each.score, "at": each.at._asdict()} for each in read.texts
        ]
        region = read.region._asdict()
        self.answer(200, ScreenTexts.model_validate({"texts": texts, "region": region}))
