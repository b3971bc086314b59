"""What all messages of the link have in common."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class Message(BaseModel):
    """Something that one side tells the other; fields that it does not know it ignores."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)

    since: ClassVar[int] = 1
    """The first version of the protocol that has this message; earlier links refuse it."""
