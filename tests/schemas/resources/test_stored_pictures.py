import pytest
from pydantic import TypeAdapter, ValidationError

from schemas.resources.stored_pictures import media_type_of
from schemas.values.pictures import PictureId


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\x89PNG\r\n\x1a\nrest", "image/png"),
        (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
        (b"\x89PNG", None),
        (b"GIF89a", None),
        (b"<svg/>", None),
        (b"", None),
    ],
)
def test_first_bytes_say_what_it_is(content: bytes, expected: str | None) -> None:
    assert media_type_of(content) == expected


@pytest.mark.parametrize("text", ["", "a" * 63, "a" * 65, "A" * 64, "g" * 64])
def test_an_id_is_a_hash(text: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(PictureId).validate_python(text)
