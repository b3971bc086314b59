"""What all documents have in common: their types, how they are encoded, and their ids."""

from datetime import UTC
from typing import Any, Final
from uuid import UUID

from bson.binary import UuidRepresentation
from bson.codec_options import CodecOptions
from motor.motor_asyncio import AsyncIOMotorCollection

Document = dict[str, Any]
Collection = AsyncIOMotorCollection[Document]

MAX_DOCUMENT_BYTES: Final = 16 * 1024 * 1024
"""The largest document that MongoDB takes; also what its answers call maxBsonObjectSize."""

CODEC_OPTIONS: Final[CodecOptions[Document]] = CodecOptions(
    tz_aware=True, tzinfo=UTC, uuid_representation=UuidRepresentation.STANDARD
)


def scoped_id(organization_id: UUID, own_id: UUID) -> bytes:
    """The ``_id`` of something whose own id is unique inside its organization only.

    Two organizations may hold copies of the same thing, and neither can find out by trying.
    Inside an organization these sort as the own ids do.
    """
    return organization_id.bytes + own_id.bytes


def own_id(scoped: bytes) -> UUID:
    """The own id in what ``scoped_id`` made."""
    return UUID(bytes=scoped[16:])


def shard_id(organization_id: UUID, machine_id: str, shard: int) -> bytes:
    """The ``_id`` of one of the documents over which a machine's input count is spread."""
    return organization_id.bytes + bytes([shard]) + machine_id.encode()
