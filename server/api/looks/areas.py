"""Parts of a desktop in the query of a request."""

import re
from typing import Annotated, Any

from pydantic import WithJsonSchema
from pydantic_core import PydanticCustomError

from schemas.inputs.pictures import Area

_REGION = re.compile(r"-?[0-9]{1,9}(,-?[0-9]{1,9}){3}", re.ASCII)

AreaText = Annotated[Area, WithJsonSchema({"type": "string"})]


def area_of(text: Any) -> Any:
    """What a region is in a query; anything else is left to be refused."""
    if not isinstance(text, str):
        return text
    if not _REGION.fullmatch(text):
        raise PydanticCustomError(
            "region_malformed", "a region is x,y,width,height in pixels, such as 0,0,640,400"
        )
    return dict(zip(("x", "y", "width", "height"), map(int, text.split(",")), strict=True))
