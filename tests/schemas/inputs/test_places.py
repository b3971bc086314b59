import pytest
from pydantic import ValidationError

from schemas.inputs.places import PictureSize, Place
from schemas.values.pictures import Size

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


@pytest.mark.parametrize(
    ("desktop", "size"), [((2560, 1440), (1280, 720)), ((600, 2560), (300, 1280)), ((9, 5), (9, 5))]
)
def test_picture_that_was_made_to_fit_has_the_desktops_aspect(
    desktop: tuple[int, int], size: tuple[int, int]
) -> None:
    assert PictureSize(fit=1280).of(Size(*desktop)) == size
    assert SIZE.of(Size(*desktop)) == (10, 20)


def test_pixels_of_what_fits_are_within_what_it_fits_into() -> None:
    fitted = PictureSize(fit=1280)
    assert fitted.beside(Place(1279, 1279, ("x",), ("y",))) == []
    assert [each.where for each in fitted.beside(Place(1280, -1, ("x",), ("y",)))] == [
        ("x",),
        ("y",),
    ]


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ({}, ["width", "height"]),
        ({"height": 1}, ["width"]),
        ({"fit": 5, "width": 5}, ["width"]),
        ({"fit": 5, "width": 5, "height": 5}, ["width", "height"]),
        ({"fit": 16_385}, ["fit"]),
        ({"fit": 0}, ["fit"]),
    ],
)
def test_size_is_both_sides_or_what_it_fits_into(given: dict[str, int], fields: list[str]) -> None:
    with pytest.raises(ValidationError) as wrong:
        PictureSize.model_validate(given)
    assert [error["loc"] for error in wrong.value.errors()] == [(field,) for field in fields]


def test_only_what_was_given_is_said() -> None:
    for given in ({"fit": 5}, {"width": 1, "height": 2}):
        assert PictureSize.model_validate(given).model_dump() == given
