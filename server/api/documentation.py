"""What the server tells anybody about itself: what it is, its API, and a page for each problem."""

import asyncio
from collections.abc import Mapping
from html import escape
from importlib.metadata import version

from pydantic import BaseModel, Field

from schemas.http import problems
from schemas.http.entity_tags import ReadHeaders
from schemas.http.problems import PROBLEM_TYPES, ProblemError
from server.console.assets import HOME_PAGE, MEDIA_TYPES, Asset
from server.web.endpoint import Endpoint
from server.web.files import REVALIDATE, WITHOUT_SCRIPTS, FileHandler

HTML = "text/html"

PROBLEM_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<link rel="icon" type="image/svg+xml" href="../console/static/{version}/icon.svg">
<link rel="stylesheet" href="../console/static/{version}/base.css">
<link rel="stylesheet" href="../console/static/{version}/docs.css"></head>
<body><main><h1>{title}</h1><p>HTTP status {status}, problem <code>{name}</code></p><p>{advice}</p>
{reasons}<p><a href="../docs">The API</a></p></main></body>
</html>
"""


class About(BaseModel):
    """What a server is, and where it tells more; addresses are relative to this one."""

    name: str = "Farhand"
    version: str
    description: str = (
        "Sends mouse and keyboard input to remote desktops, at most once, and shows their screens."
    )
    console: str = Field("console/", description="For operators, with a browser.")
    documentation: str = Field("docs", description="The API, to be browsed.")
    openapi: str = Field("openapi.json", description="The API, for programs.")
    alive: str = Field("healthz", description="Whether the process lives.")
    ready: str = Field("readyz", description="Whether requests can be served.")


class ProblemPath(BaseModel):
    """Names a problem type."""

    name: str


class SitePath(BaseModel):
    """Names a file of the documentation."""

    path: str = Field(description="Such as guide/demo.html: it may have slashes.")


class HomeHandler(FileHandler):
    @Endpoint(
        summary="Ask what this server is",
        description="A browser, or whatever else accepts text/html, gets a page.",
        scope=None,
        public=True,
        headers=ReadHeaders,
        answers={200: About, 304: None},
    )
    async def get(self, headers: ReadHeaders) -> None:
        self.set_header("Vary", "Accept")
        if HTML in self.request.headers.get("Accept", ""):
            self.answer_page(self.services.operation.console.pages[HOME_PAGE], headers)
        else:
            self.answer(200, About(version=version("farhand")))


class ApiPageHandler(FileHandler):
    @Endpoint(
        summary="Browse the API",
        scope=None,
        public=True,
        headers=ReadHeaders,
        answers={200: None, 304: None},
        media_type=HTML,
    )
    async def get(self, headers: ReadHeaders) -> None:
        # Beside the event loop, since no input may wait while the page is made.
        page = await asyncio.to_thread(self.services.operation.reference)
        self.answer_page(page, headers)


class SiteHandler(FileHandler):
    @Endpoint(
        summary="Read the documentation",
        description="Where it is installed (the setting docs_dir): it begins at index.html.",
        scope=None,
        public=True,
        path=SitePath,
        headers=ReadHeaders,
        answers={200: None, 304: None},
        problems=(problems.NOT_FOUND,),
        media_type="*/*",
    )
    async def get(self, path: SitePath, headers: ReadHeaders) -> None:
        asset = self.services.operation.site.find(path.path)
        if asset is None:
            raise ProblemError(problems.NOT_FOUND, "the documentation has no such page here")
        if asset.media_type == MEDIA_TYPES["html"]:
            self.answer_page(asset, headers, WITHOUT_SCRIPTS)
        else:
            self.answer_asset(asset, REVALIDATE, headers)


class OpenApiHandler(FileHandler):
    @Endpoint(
        summary="Get the OpenAPI document",
        scope=None,
        public=True,
        headers=ReadHeaders,
        answers={200: None, 304: None},
    )
    async def get(self, headers: ReadHeaders) -> None:
        # Beside the event loop, since no input may wait while the document is made.
        document = await asyncio.to_thread(self.services.operation.openapi)
        self.answer_asset(document, REVALIDATE, headers)


class ProblemHandler(FileHandler):
    @Endpoint(
        summary="Read about a problem",
        scope=None,
        public=True,
        path=ProblemPath,
        headers=ReadHeaders,
        answers={200: None, 304: None},
        problems=(problems.NOT_FOUND,),
        media_type=HTML,
    )
    async def get(self, path: ProblemPath, headers: ReadHeaders) -> None:
        problem_type = PROBLEM_TYPES.get(path.name)
        if problem_type is None:
            raise ProblemError(problems.NOT_FOUND, "there is no such problem")
        page = PROBLEM_PAGE.format(
            title=escape(problem_type.title),
            status=problem_type.status,
            name=problem_type.name,
            advice=escape(problem_type.advice),
            reasons=_table_of(problem_type.reasons),
            version=self.services.operation.console.version,
        )
        self.answer_page(Asset(page.encode(), MEDIA_TYPES["html"]), headers)


def _table_of(reasons: Mapping[str, str]) -> str:
    """What each ``reason`` of a problem means, as a table; nothing where it has none."""
    if not reasons:
        return ""
    rows = "".join(
        f"<tr><td><code>{escape(reason)}</code></td><td>{escape(meaning)}</td></tr>\n"
        for reason, meaning in reasons.items()
    )
    head = "<thead><tr><th>reason</th><th>meaning</th></tr></thead>"
    return f"<table>{head}<tbody>\n{rows}</tbody></table>\n"
