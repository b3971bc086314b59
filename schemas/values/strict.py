"""What is understood whole, or not at all."""

from pydantic import BaseModel, ConfigDict


class StrictModel(BaseModel):
    """A model of what others send: a field that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)
