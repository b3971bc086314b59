"""Who is behind tokens: the users who have made them, as a transaction sees it."""

from collections.abc import Collection
from uuid import UUID

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.mongodb.transactions import Session


class MakerReads:
    """Reads of tokens in a transaction; a revoked token is still there, and counts as any other."""

    def __init__(self, database: Database, session: Session) -> None:
        self._tokens = database.collection("tokens")
        self._session = session

    async def users_behind(self, token_ids: Collection[UUID]) -> set[UUID]:
        """The users who have made any of these tokens, directly or by tokens of theirs."""
        if not token_ids:
            return set()
        found = await self._found(token_ids, "makers")
        makers = {maker for each in found for maker in each.get("makers", ())}
        # Ids of tokens stand among those of users.  A token may be another organization's.
        return makers - {each["_id"] for each in await self._found(makers, "_id")}

    async def _found(self, token_ids: Collection[UUID], field: str) -> list[Document]:
        cursor = self._tokens.find(
            {"_id": {"$in": [*token_ids]}}, projection=[field], session=self._session
        )
        return [each async for each in cursor]
