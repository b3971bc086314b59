"""What the server tells about itself: its OpenAPI document, and a page for each problem."""

from html import escape

from pydantic import BaseModel

from schemas import problems
from schemas.problems import PROBLEM_TYPES, ProblemError
from server.api.base import ApiHandler
from server.api.operation import Operation, operation

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body><h1>{title}</h1><p>HTTP status {status}, problem <code>{name}</code></p><p>{advice}</p>
</body></html>
"""


class ProblemPath(BaseModel):
    """Names a problem type."""

    name: str


class OpenApiHandler(ApiHandler):
    @operation(Operation(summary="Get the OpenAPI document", scope=None, answers={200: None}))
    async def get(self) -> None:
        self.answer_bytes(200, self.services.openapi)


class ProblemHandler(ApiHandler):
    @operation(
        Operation(
            summary="Read about a problem",
            scope=None,
            path=ProblemPath,
            answers={200: None},
            problems=(problems.NOT_FOUND,),
            media_type="text/html",
        )
    )
    async def get(self, path: ProblemPath) -> None:
        problem_type = PROBLEM_TYPES.get(path.name)
        if problem_type is None:
            raise ProblemError(problems.NOT_FOUND, "there is no such problem")
        page = PAGE.format(
            title=escape(problem_type.title),
            status=problem_type.status,
            name=problem_type.name,
            advice=escape(problem_type.advice),
        )
        self.set_header("X-Content-Type-Options", "nosniff")
        self.answer_bytes(200, page.encode(), "text/html; charset=utf-8")
