"""How a picture is wanted: the same in JSON as in a query."""

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.inputs.pictures import Area, PictureWanted
from schemas.values.pictures import MAX_PICTURE_SIDE
from server.api.looks.screen import ScreenshotQuery

REGION = {"x": -5, "y": 0, "width": 4 * MAX_PICTURE_SIDE, "height": 1}


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"format": "webp", "quality": 95, "width": MAX_PICTURE_SIDE, "height": 1, "pointer": False},
        {"region": REGION, "format": "jpeg", "quality": 1},
        {"display": 63, "pointer": True},
    ],
)
def test_json_and_query_mean_the_same(wanted: dict[str, Any]) -> None:
    query = {name: str(value).lower() for name, value in wanted.items()}
    if "region" in wanted:
        query["region"] = ",".join(map(str, REGION.values()))
    in_json = PictureWanted.model_validate(wanted)
    assert ScreenshotQuery.model_validate(query).wanted == in_json
    assert in_json.region == (Area(**REGION) if "region" in wanted else None)


WRONG: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"format": "gif"}, ("format",)),
    ({"width": 0}, ("width",)),
    ({"height": MAX_PICTURE_SIDE + 1}, ("height",)),
    ({"quality": 96}, ("quality",)),
    ({"quality": "80"}, ("quality",)),
    ({"display": -1}, ("display",)),
    ({"display": 64}, ("display",)),
    ({"display": True}, ("display",)),
    ({"pointer": "false"}, ("pointer",)),
    ({"scale": 2}, ("scale",)),
    ({"region": "0,0,1,1"}, ("region",)),
    ({"region": {**REGION, "width": 0}}, ("region", "width")),
    ({"region": {**REGION, "x": 2**31}}, ("region", "x")),
    ({"region": {"x": 0, "y": 0, "width": 1}}, ("region", "height")),
    ({"region": REGION, "display": 0}, ()),
]


@pytest.mark.parametrize(("wanted", "place"), WRONG, ids=str)
def test_what_cannot_be_wanted_is_refused_at_its_place(
    wanted: dict[str, Any], place: tuple[str, ...]
) -> None:
    with pytest.raises(ValidationError) as caught:
        PictureWanted.model_validate(wanted)
    (fault,) = caught.value.errors()
    assert fault["loc"] == place
