import pytest

from schemas.inputs.places import PictureSize, Place

SIZE = PictureSize(width=10, height=20)


@pytest.mark.parametrize(("x", "y"), [(0, 0), (9, 19)])
def test_pixels_of_a_picture_are_within_it(x: int, y: int) -> None:
    assert SIZE.beside(Place(x, y, ("x",), ("y",))) == []


@pytest.mark.parametrize(
    ("x", "y", "fields"),
    [(-1, 0, ["x"]), (10, 0, ["x"]), (0, -1, ["y"]), (0, 20, ["y"]), (10, 20, ["x", "y"])],
)
def test_what_is_beside_it_is_told_by_its_field(x: int, y: int, fields: list[str]) -> None:
    wrong = SIZE.beside(Place(x, y, ("path", 1, "x"), ("path", 1, "y")))
    assert [each.where for each in wrong] == [("path", 1, field) for field in fields]
