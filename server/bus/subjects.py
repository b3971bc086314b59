"""What the messages between nodes are addressed to."""

from base64 import urlsafe_b64encode
from hashlib import sha256
from uuid import UUID


class Subjects:
    """The subjects of one installation, which nobody can guess who does not know its ``secret``.

    So two installations may share one NATS.  A machine's id may have any characters that its
    organization likes, of which a subject takes few.
    """

    def __init__(self, secret: bytes) -> None:
        tag = sha256(b"the subjects of an installation\0" + secret).hexdigest()[:16]
        self._prefix = f"farhand.{tag}"

    def link(self, organization_id: UUID, machine_id: str, epoch: int) -> str:
        """Answered by the node that has this link of a machine."""
        name = urlsafe_b64encode(machine_id.encode()).decode().rstrip("=")
        return f"{self._prefix}.{organization_id.hex}.machine.{name}.{epoch}"

    def node(self, node_id: UUID) -> str:
        """Answered by one node."""
        return f"{self._prefix}.node.{node_id.hex}"

    @property
    def events(self) -> str:
        """What the subjects begin with on which events are told of."""
        return f"{self._prefix}.events"
