"""``POST /mcp``: Farhand's tools for models, by the Model Context Protocol."""

import asyncio
from types import ModuleType
from typing import Any, ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from schemas.http import problems
from schemas.http.problems import ProblemError
from server.identity.addresses import FORWARDED_FOR
from server.identity.authentication import secret_hash
from server.identity.sessions import check_no_other_site
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler

MAX_BODY_BYTES: Final = 256 * 1024
MAX_BODY_VALUES: Final = 20_000
"""As many as several actions may have."""


class McpMessage(BaseModel):
    """One message of JSON-RPC, as the Model Context Protocol has them."""

    model_config = ConfigDict(extra="allow")

    jsonrpc: Literal["2.0"]
    method: str = Field(max_length=200, description="Such as tools/call.")
    id: StrictInt | StrictStr | None = Field(None, description="Of what wants an answer.")
    params: dict[str, Any] | None = None


class McpHandler(ApiHandler):
    """What the tools do is asked of the other handlers, with the token of whoever calls them."""

    _answering: asyncio.Task[Any] | None = None
    _loaded: ClassVar[ModuleType | None] = None

    @Endpoint(
        summary="Call tools by MCP",
        description="Streamable HTTP of the Model Context Protocol, without sessions: each "
        "request stands alone, and is answered as JSON.  Each tool needs the scope of the "
        "operation that it stands for.",
        scope=None,
        body=McpMessage,
        # A text that is typed is in it.
        confidential=True,
        answers={200: None, 202: None},
        problems=(problems.NOT_INSTALLED,),
        max_body_bytes=MAX_BODY_BYTES,
        max_body_values=MAX_BODY_VALUES,
        session=False,
    )
    async def post(self, body: McpMessage) -> None:
        over_http = await self._over_http()
        _, _, token = self.request.headers["Authorization"].partition(" ")
        caller = over_http.Caller(
            token=token.strip(),
            digest=secret_hash(token.strip()),
            remote_ip=self.request.remote_ip or "",
            protocol=self.request.protocol,
            passed_on=self._passed_on(),
            is_ending=lambda: self.services.operation.leaving,
        )
        content = body.model_dump_json(exclude_unset=True).encode()
        headers = self.request.headers.get_all()
        answering = self._answering = self.services.background.start(
            over_http.answer(self.application, caller, headers, content),
            f"MCP message of request {self.request_id}",
        )
        await asyncio.wait((answering,))
        if not answering.cancelled():
            answered = answering.result()
            self.answer_bytes(answered.status, answered.body, answered.media_type)

    def on_connection_close(self) -> None:
        """The host has gone away, so nobody waits for what its tool asked."""
        super().on_connection_close()
        if self._answering is not None:
            self._answering.cancel()

    async def authorize(self, endpoint: Endpoint) -> None:
        """Find out who calls; the pages of other sites may not, whatever token they have."""
        await super().authorize(endpoint)
        check_no_other_site(self.request)

    async def _over_http(self) -> ModuleType:
        if McpHandler._loaded is None:
            McpHandler._loaded = await asyncio.to_thread(_load)
        return McpHandler._loaded

    def _passed_on(self) -> dict[str, str]:
        passed_on = {"X-Request-Id": self.request_id}
        if (before := self.request.headers.get(FORWARDED_FOR)) is not None:
            passed_on[FORWARDED_FOR] = before
        return passed_on


def _load() -> ModuleType:
    """What speaks MCP: half a second to load, and 27 MB, that most servers never need."""
    try:
        from server.mcp import over_http  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ProblemError(
            problems.NOT_INSTALLED,
            f"{(error.name or '').partition('.')[0]} is not installed on this server: whoever runs "
            "it installs farhand[mcp]",
        ) from None
    return over_http
