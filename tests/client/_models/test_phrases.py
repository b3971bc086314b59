"""What a model reads of a failure."""

from pathlib import Path

import pytest

from farhand._models import phrases


@pytest.mark.parametrize(
    ("types", "phrase"),
    [
        (["outside_picture"], phrases.OUTSIDE),
        (["coordinates_outside_display"], phrases.OUTSIDE),
        (["key_combination"], phrases.NO_SUCH_KEY),
        (["text_not_typeable"], phrases.NOT_TYPEABLE),
        (["button_unavailable"], phrases.NOT_AVAILABLE),
        (["int_type", "outside_picture"], phrases.OUTSIDE),
        (["what a later server says"], phrases.UNUSABLE),
        ([], phrases.UNUSABLE),
    ],
)
def test_refusals(types: list[str], phrase: str) -> None:
    assert phrases.of_refusal(types) == phrase


@pytest.mark.parametrize(
    ("status", "phrase"),
    [
        ("failed", phrases.FAILED),
        ("interrupted", phrases.INTERRUPTED),
        ("unknown", phrases.UNKNOWN),
        ("not_begun", phrases.NOT_EXECUTED),
        ("what a later server says", phrases.FAILED),
    ],
)
def test_ends(status: str, phrase: str) -> None:
    assert phrases.of_end(status) == phrase


def test_page_has_all_of_them() -> None:
    page = Path(__file__).parents[3] / "docs" / "reference" / "models.md"
    shown = page.read_text().split("```text\n")[1].split("```")[0]
    every = [value for name, value in vars(phrases).items() if name[0].isupper()]
    assert shown.splitlines() == [each for each in every if isinstance(each, str)]
