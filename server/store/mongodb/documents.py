"""What all documents have in common: their types, how they are encoded, and their ids."""

from collections.abc import Iterable
from datetime import UTC
from typing import Any, ClassVar, Final, Protocol
from uuid import UUID

import bson
from bson.binary import UuidRepresentation
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument
from motor.motor_asyncio import AsyncIOMotorCollection

Document = dict[str, Any]
Collection = AsyncIOMotorCollection[Document]

MAX_DOCUMENT_BYTES: Final = 16 * 1024 * 1024
"""The largest document that MongoDB takes; also what its answers call maxBsonObjectSize."""

CODEC_OPTIONS: Final[CodecOptions[Document]] = CodecOptions(
    tz_aware=True, tzinfo=UTC, uuid_representation=UuidRepresentation.STANDARD
)

QUICK_CODEC_OPTIONS: Final[CodecOptions[Document]] = CodecOptions(
    tz_aware=False, uuid_representation=UuidRepresentation.UNSPECIFIED
)
"""For many documents at once: times are in UTC without a zone, and UUIDs are their bytes.

To make both as the others have them is most of what it costs to decode a trajectory.
"""


def encoded(wanted: Document) -> RawBSONDocument:
    """A filter for a collection with ``QUICK_CODEC_OPTIONS``, which encode no UUIDs."""
    return RawBSONDocument(bson.encode(wanted, codec_options=CODEC_OPTIONS))


class _Stored(Protocol):
    """A dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


def fields_of(stored: type[_Stored], document: Document) -> Document:
    """What a document has for a dataclass; what only a later Farhand keeps in it stays unread."""
    return {name: document[name] for name in stored.__dataclass_fields__ if name in document}


def by_organization(keys: Iterable[tuple[UUID, str]]) -> dict[UUID, list[str]]:
    """The ids of machines, each named by its organization and its id, for each organization."""
    of: dict[UUID, list[str]] = {}
    for organization_id, machine_id in keys:
        of.setdefault(organization_id, []).append(machine_id)
    return of


def machines_of(keys: Iterable[tuple[UUID, str]]) -> Document:
    """A filter for what belongs to machines, each named by its organization and its id."""
    wanted: list[Document] = [
        {"organization_id": organization_id, "machine_id": {"$in": machine_ids}}
        for organization_id, machine_ids in by_organization(keys).items()
    ]
    return wanted[0] if len(wanted) == 1 else {"$or": wanted}


def scoped_id(organization_id: UUID, own_id: UUID) -> bytes:
    """The ``_id`` of something whose own id is unique inside its organization only.

    Two organizations may hold copies of the same thing, and neither can find out by trying.
    Inside an organization these sort as the own ids do.
    """
    return organization_id.bytes + own_id.bytes


def own_id(scoped: bytes) -> UUID:
    """The own id in what ``scoped_id`` made."""
    return UUID(bytes=scoped[16:])


def uuid_text(content: bytes) -> str:
    """What ``str(UUID(bytes=content))`` is, in a fourth of its time."""
    digits = content.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def shard_id(organization_id: UUID, machine_id: str, shard: int) -> bytes:
    """The ``_id`` of one of the documents over which a machine's input count is spread."""
    return organization_id.bytes + bytes([shard]) + machine_id.encode()
