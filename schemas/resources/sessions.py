"""Sessions of the console: browsers that are signed in with a token."""

from typing import Final
from uuid import UUID

from pydantic import BaseModel, Field

from schemas.http.queries import NullableUuid, Page, PageQuery
from schemas.values.times import Time

MOST_USER_AGENT_CHARACTERS: Final = 200


class ConsoleSession(BaseModel):
    """A session as whoever looks after tokens sees it; nobody gets in with its id."""

    id: UUID
    token_id: UUID
    token_name: str = Field(description="The token that somebody signed in with.")
    user_agent: str | None = Field(
        description="What the browser called itself at signing in, in 200 characters at most."
    )
    created_at: Time
    last_used_at: Time = Field(description="It may have been used for a minute since.")
    expires_at: Time = Field(description="When it ends at the latest; unused, it ends before.")
    current: bool = Field(description="Whether the request came with this session's own cookie.")


class SessionQuery(PageQuery):
    """Which sessions are wanted."""

    token_id: NullableUuid = Field(None, description="Those of this token alone.")


class SessionPage(Page[ConsoleSession]):
    """A page of sessions."""
