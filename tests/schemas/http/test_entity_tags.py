import pytest
from pydantic import ValidationError

from schemas.http.entity_tags import ChangeHeaders, EntityTags, parse_tags, version_tag


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*", EntityTags(is_any=True)),
        (" * ", EntityTags(is_any=True)),
        ('"7"', EntityTags(strong=frozenset({'"7"'}))),
        ('""', EntityTags(strong=frozenset({'""'}))),
        ('"a", W/"b"', EntityTags(strong=frozenset({'"a"'}), weak=frozenset({'"b"'}))),
        ('"a",,\t"b",', EntityTags(strong=frozenset({'"a"', '"b"'}))),
        ('"a,b"', EntityTags(strong=frozenset({'"a,b"'}))),
    ],
)
def test_header_is_read_as_the_rfc_has_it(text: str, expected: EntityTags) -> None:
    assert parse_tags(text) == expected


@pytest.mark.parametrize(
    "text", ["", " ", ",", "7", '"7', '7"', 'w/"7"', '"7" "8"', '"7", *', '*, "7"', '"a b"', "W/7"]
)
def test_anything_else_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="entity tags in double quotes"):
        parse_tags(text)
    with pytest.raises(ValidationError) as caught:
        ChangeHeaders.model_validate({"If-Match": text})
    (entry,) = caught.value.errors()
    assert (entry["loc"], entry["type"]) == (("If-Match",), "entity_tag")


def test_strong_tags_name_versions_whatever_was_included() -> None:
    tags = parse_tags(f'{version_tag(7)}, {version_tag(8, 3)}, W/"9", "ten", "", "{"1" * 30}"')
    assert tags.versions == {7, 8}


def test_any_and_nothing_given_are_any_version_and_no_known_tag_is_none() -> None:
    assert ChangeHeaders.model_validate({"If-Match": "*"}).versions is None
    assert ChangeHeaders().versions is None
    assert ChangeHeaders.model_validate({"If-Match": '"unknown"'}).versions == set()


def test_weak_comparison_is_of_the_whole_tag() -> None:
    tags = parse_tags('"7", W/"8.1"')
    assert tags.name(version_tag(7))
    assert tags.name(version_tag(8, 1))
    assert not tags.name(version_tag(8))
    assert parse_tags("*").name(version_tag(9))
