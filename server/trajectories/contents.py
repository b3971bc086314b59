"""The hash of a trajectory's content: all that a run would use of it.

An approval is bound to it.  It is of the steps' text as it is kept, however it came there, so that
an export imported elsewhere, or a duplicate, has the same.  While a trajectory is pending
generation it grows, and has none.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from server.store.trajectories.documents import StoredTrajectory

CONTENT = frozenset({"workflow_id", "dimensions", "original_input_values"})
"""What a hash is of, beside the steps."""


def with_hashes(trajectory: StoredTrajectory) -> StoredTrajectory:
    """The same with the hashes of its content, all of which is in its document."""
    if not trajectory.is_generated:
        return replace(trajectory, steps_digest=None, content_hash=None)
    digest = hashlib.sha256(b",".join(trajectory.inline_steps)).digest()
    return replace(trajectory, steps_digest=digest, content_hash=content_hash(trajectory, digest))


def content_hash(trajectory: StoredTrajectory, digest: bytes | None) -> bytes | None:
    """The hash of the content, by the digest of its steps; None without that."""
    if digest is None:
        return None
    hashed = hashlib.sha256(b"farhand content 1\n")
    for part in (
        trajectory.workflow_id.bytes,
        trajectory.dimensions,
        trajectory.original_input_values,
        digest,
    ):
        # With its length, so that no part can pretend to be two.
        hashed.update(len(part).to_bytes(8))
        hashed.update(part)
    return hashed.digest()


def is_other_content(before: StoredTrajectory, fields: Mapping[str, Any]) -> bool:
    """Whether these fields, of which none are steps, make another content."""
    return any(name in fields and fields[name] != getattr(before, name) for name in CONTENT)


def changed_hashes(
    before: StoredTrajectory, fields: Mapping[str, Any], digest: bytes | None
) -> dict[str, Any]:
    """The hashes that change with these fields; ``digest`` is that of steps that had none."""
    after = replace(before, **fields)
    digest = (digest or before.steps_digest) if after.is_generated else None
    hashes = {
        "steps_digest": digest,
        "content_hash": content_hash(after, digest),
    }
    return {name: value for name, value in hashes.items() if value != getattr(before, name)}
