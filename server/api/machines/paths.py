"""What the addresses of machines name."""

from pydantic import BaseModel

from schemas.values.scalars import MachineId


class MachinePath(BaseModel):
    """Names a machine."""

    machine_id: MachineId
