"""What the addresses of machines name."""

from pydantic import BaseModel, Field

from schemas.values.scalars import MachineId


class MachinePath(BaseModel):
    """Names a machine."""

    machine_id: MachineId


class LeasePath(MachinePath):
    """Names a lease of a machine."""

    lease: str = Field(max_length=200)
