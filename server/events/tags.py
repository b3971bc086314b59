"""What names the events of an organization on every node alike, and says nothing else."""

from collections.abc import Callable
from hashlib import blake2b
from uuid import UUID

TagOf = Callable[[UUID], str]


def event_tags(secret: bytes) -> TagOf:
    """Makes the tags of an installation that has this secret."""

    def tag_of(organization_id: UUID) -> str:
        key = blake2b(secret, person=b"farhand events").digest()
        return blake2b(organization_id.bytes, key=key, digest_size=6).hexdigest()

    return tag_of
