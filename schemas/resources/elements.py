"""The elements of a machine's screen, as HTTP clients see them."""

from typing import Literal

from pydantic import BaseModel, Field

from schemas.inputs.pictures import Area


class Element(BaseModel):
    """Something on the screen that people would name: a button, a field, a window."""

    role: str = Field(description="What it is, such as push button.")
    name: str = Field(description="What it is called; the beginning of a long name.")
    value: str | None = Field(
        description="What is in it, such as a field's text; of a password field always null."
    )
    states: list[str] = Field(description="Such as enabled, focused and checked.")
    bounds: Area | None = Field(
        description="Where it is, in the desktop's pixels; null where that cannot be told for sure."
    )
    window: str = Field(description="The title of its window.")
    application: str = Field(description="What its program calls itself.")
    depth: int = Field(description="How many levels below its window, which is 0.")
    ref: str = Field(
        description="Names it to this machine while its program runs, it is there, and role and "
        "name are the same."
    )
    selector: dict[str, str] = Field(
        description="The shortest that finds it and nothing else, as it was then; its ref where "
        "nothing shorter is known to."
    )


class Elements(BaseModel):
    """What a screen shows."""

    items: list[Element] = Field(
        description="Each before what is in it; with at, the innermost first."
    )
    truncated: Literal["limit", "size", "time"] | None = Field(
        description="Why these are not all. limit: there are more than were asked for. size: the "
        "answer would be too long. time: looking took too long."
    )
    silent: list[str] = Field(
        description="The programs that did not answer in time, whose elements are not here."
    )
